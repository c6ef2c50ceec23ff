// The times of a model's nodes on a GPU that is described but was never measured (machine/file.h). The
// results are estimates.
//
// A kernel computes a matrix of outputs in blocks, and each compute unit of the GPU takes one block after
// another. A product of rows x columns with sums of K products therefore takes
//
//     launch + max(ceil(blocks / compute units) x time of a block, bytes / bandwidth)
//     blocks = ceil(rows / 64) x ceil(columns / 16), time of a block = 2 x its rows x its columns x K / rate
//
// with the peak rate of one unit times the share of it that kernels reach. A node without products moves its
// bytes. A share of a layer therefore gains nothing before it is a whole number of waves shorter.
//
// Source: CoDL (systems.md, 2) for the form, waves of blocks of tiles. The size of a block is an estimate.
#pragma once

#include "graph/graph.h"
#include "machine/file.h"
#include "machine/gpu_entry.h"

namespace mete {

// Returns microseconds from the launch of a graph's first kernel, into a queue that has work, to the end of
// its last. `graph` is one behind all passes: a fused node is one kernel. With `gpu.type` kF16 products are
// of halves, and values and weights of f32 lie in the GPU's memory as halves. Nodes of bytes are computed as
// integers with kF32, and with kF16 as halves that are converted when they are loaded (muLayer's way). With
// `gpu.exact_bytes` kF16 is kF32 in a graph with bytes, as on a GPU that is there.
double EstimateGpuUs(const Graph& graph, const GpuFigures& figures, const GpuEntry& gpu);

}  // namespace mete
