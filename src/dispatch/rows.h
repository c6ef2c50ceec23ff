// Selects the nodes that the fast kernels normalize, along rows or over neighbouring channels, and describes
// each in the kernels' terms. As in dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "kernels/fast/lrn/lrn.h"

namespace mete {

enum class RowKind { kSoftmax, kLogSoftmax, kLayerNorm, kRmsNorm };

// `count` rows of `length` elements that lie one after another.
struct NormalizedRows {
  RowKind kind = RowKind::kSoftmax;
  int64_t count = 1, length = 1;
  float epsilon = 1e-5f;

  std::string kernel() const;
};

// Returns the rows of a Softmax, LogSoftmax, LayerNormalization or RMSNormalization. Returns nothing if only
// the reference kernel can compute it; `why` then receives the reason.
std::optional<NormalizedRows> RowsOf(const Graph& graph, const Node& node, std::string* why);

struct Lrn {
  LrnShape shape;
  int64_t pixels = 1;

  std::string kernel() const { return "lrn_f32"; }
};

// The same for an LRN.
std::optional<Lrn> LrnOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
