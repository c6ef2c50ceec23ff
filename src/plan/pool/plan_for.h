// The planner for several processors, by objective.
#pragma once

#include "plan/pool/objective.h"
#include "plan/plan.h"

namespace mete {

// Returns the best plan for the objective, with its period and, if the pool has power figures, its joules.
// Error if `pool` does not fit the graph, or if the objective is energy and a processor has no power figures.
Plan PlanPoolFor(PoolObjective objective, const Graph& graph, const PoolCosts& pool);

}  // namespace mete
