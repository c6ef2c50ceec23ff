// Selects the poolings that the fast kernels compute and describes each in the kernels' terms. As in
// dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "kernels/fast/pool/pool.h"

namespace mete {

struct Pooling {
  PoolKind kind = PoolKind::kMax;
  bool whole_image = false;  // one output pixel per image; `shape` is not set then
  PoolShape shape;

  std::string kernel() const { return whole_image ? "global_pool_f32" : "pool_f32"; }
};

// Returns the window of a pool with attribute kernel_shape over NHWC, without its kind. Returns nothing if
// padding counts and is automatic; `why` then receives the reason.
std::optional<PoolShape> PoolShapeOf(const Graph& graph, const Node& node, std::string* why);

// Returns the pooling of a MaxPool, AveragePool, GlobalMaxPool or GlobalAveragePool. Returns nothing if only
// the reference kernel can compute it; `why` then receives the reason.
std::optional<Pooling> PoolingOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
