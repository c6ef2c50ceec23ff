// What else than a node decides which kernel computes it.
#pragma once

#include <optional>

#include "dispatch/conv_algorithms.h"
#include "graph/graph.h"

namespace mete {

struct DispatchOptions {
  // the algorithm for all convolutions that it fits, the others are direct; nullopt: any
  std::optional<ConvAlgorithm> conv;
  // where `conv` is nullopt: no algorithm with a larger error than the direct sums
  bool plain_sums = false;
  // where `conv` is nullopt: only the algorithm with the largest error that the node permits (graph/fused.h,
  // 10), by which that error is measured; nodes that permit none are direct
  bool least_exact = false;
};

// Returns what a network asks of its kernels. A network with quantized values needs plain sums: it is judged
// by the roundings of the engine that calibrated it (passes/fuse_quantized.cc), which a larger error would
// cross more often.
DispatchOptions OptionsFor(const Graph& graph);

}  // namespace mete
