// What Neurosurgeon plans by: times of layers that are not looked up but estimated, for each device and kind
// of layer by a regression over the layer's features.
//
// Source: Neurosurgeon (systems.md, 4), which fits a model for each type of layer to measurements of many
// configurations. Here a kind is the operator of the layer's anchor, the features are 1, operations and
// bytes, and what is fitted to are the model's own layers on that device, by non-negative least squares of
// relative errors (costs/fit.h).
#pragma once

#include "costs/pool.h"
#include "graph/graph.h"

namespace mete {

// The pool with the times of its layers as the regressions have them; what takes no time still takes none.
PoolCosts RegressedCosts(const Graph& graph, const PoolCosts& pool);

}  // namespace mete
