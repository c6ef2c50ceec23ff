// Estimates the costs of a model's layers on processors that are described but not here. The graph of each
// layer, alone and after all passes, is planned for all cores of the processor's machine file
// (costs/estimate.h, plan/cores). Watts come from the power model of the machine file. All results are
// estimates.
#pragma once

#include "costs/pool.h"
#include "graph/graph.h"
#include "machine/pool_file.h"

namespace mete {

// `graph` is a graph before the pass `layout`. A join takes the time of the copy that it is if its inputs
// come from elsewhere. Within a group there may be no copy, because convolutions write in place; the group
// then takes less. The time that remains of a layer however few rows are computed is twice the time of its
// half, less that of the whole. The pool is described (PoolFile::described): each device is one processor,
// its CPU, or the processors that a board's list names (machine/board_processors.h), which share its memory.
//
// A share on a GPU (costs/gpu_estimate.h) takes the launch into a drained queue. What the CPU and a GPU hand
// over is mapped and not copied, and the waiting thread sleeps until the other side is done, which is the
// most that waiting takes. Both slow each other by the file's factors.
PoolCosts EstimatePool(const Graph& graph, const PoolFile& file);

}  // namespace mete
