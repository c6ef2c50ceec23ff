// The graph of a model before the passes behind division, for all sizes that its file leaves open.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "mete/engine.h"

namespace mete {

// Returns DivisibleOf(model) with constants that hold for all sizes of open dimensions; its shapes are the
// loaded ones. Returns nothing if a pass decided by a size, or shape arithmetic is left: the graph then holds
// for the loaded sizes alone.
std::optional<Graph> OpenDivisibleOf(const Model& model);

}  // namespace mete
