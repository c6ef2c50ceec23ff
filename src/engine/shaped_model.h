// A loaded model at the shapes of a run.
#pragma once

#include <memory>
#include <span>

#include "mete/engine.h"
#include "passes/shaped_graphs.h"

namespace mete {

// Returns the model's graph at other shapes, as long as the model lives; null if no input has an open
// dimension.
std::unique_ptr<ShapedGraphs> ShapedGraphsOf(const Model& model);

// Returns whether the inputs, one for each port, have the shapes for which the model was loaded. Allocates
// nothing.
bool HasLoadedShapes(const Model& model, std::span<const ConstView> inputs);

}  // namespace mete
