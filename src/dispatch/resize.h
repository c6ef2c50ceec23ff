// Selects the Resizes that the fast kernel computes, and describes each in its terms. As in
// dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "kernels/fast/resize/resize.h"

namespace mete {

struct Resizing {
  ResizeShape shape;

  std::string kernel() const { return shape.nearest ? "resize_nearest_f32" : "resize_linear_f32"; }
};

// Returns the work of a Resize. Returns nothing if only the reference kernel can compute it; `why` then
// receives the reason.
std::optional<Resizing> ResizingOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
