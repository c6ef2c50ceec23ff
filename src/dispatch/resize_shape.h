// The shape of a Resize of two neighbouring axes, whatever kernel computes it.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "kernels/fast/resize/resize.h"

namespace mete {

// Returns nothing if the Resize changes other axes, or in another way than ResizeShape has; `why` then
// receives the reason.
std::optional<ResizeShape> ResizeShapeOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
