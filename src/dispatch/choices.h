// Selects the nodes that choose elements along an axis and have a fast kernel, and describes each in the
// kernels' terms. As in dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "kernels/fast/select/best.h"
#include "kernels/fast/select/top.h"

namespace mete {

struct TopChoice {
  TopShape shape;

  std::string kernel() const { return "top_k_f32"; }
};

// Returns the work of a TopK. Returns nothing if only the reference kernel can compute it; `why` then
// receives the reason.
std::optional<TopChoice> TopChoiceOf(const Graph& graph, const Node& node, std::string* why);

struct BestChoice {
  BestShape shape;

  std::string kernel() const { return shape.largest ? "arg_max_f32" : "arg_min_f32"; }
};

// The same for an ArgMax or ArgMin.
std::optional<BestChoice> BestChoiceOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
