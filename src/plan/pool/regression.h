// The times that Neurosurgeon and muLayer plan with: they are not looked up but estimated, for each processor
// and kind of layer by a regression over the layer's features.
//
// Source: Neurosurgeon (systems.md, 4; muLayer extends it, systems.md, 2), which fits a model for each type
// of layer to measurements of many configurations. Here the kind is the operator of the layer's anchor, the
// features are 1, operations and bytes, and the data are the model's own layers on that processor. The fit is
// by non-negative least squares of relative errors (costs/fit.h).
#pragma once

#include "costs/pool.h"
#include "graph/graph.h"

namespace mete {

// Returns the pool with the layer times that the regressions predict. Layers without time still have none.
PoolCosts RegressedCosts(const Graph& graph, const PoolCosts& pool);

// Returns the pool with the layer times that muLayer's planner predicts, as CoDL's authors describe it: for
// each processor and kind of layer a line over the layer's operations, of which a share of the layer takes
// its share. Links, launches and what processors do to each other take nothing.
PoolCosts FlopsLinearCosts(const Graph& graph, const PoolCosts& pool);

}  // namespace mete
