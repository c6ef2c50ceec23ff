// Searches the plan for several processors with the least energy of a request (objective.h defines which
// joules count).
//
// The idle energy of the processors that are on is proportional to the time of the whole request, and
// therefore couples its groups. For a fixed set of processors the idle power is a constant, and the price of
// a request is a sum over its groups, which dynamic.h minimizes exactly. Therefore the search tries every
// set: the caller's own processor with each of ProcessorSets(), and with all processors that are the same
// hardware as one of these. It skips a set if the set's idle energy during the shortest possible request
// makes it more expensive than the best plan so far.
#pragma once

#include "costs/pool.h"
#include "plan/plan.h"

namespace mete {

// Returns the plan with the least energy of those with `placements`. Error if a processor has no power
// figures, or if `pool` does not fit the graph.
Plan PlanLeastEnergy(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements);
// Plans with the placements of PlacementsOf(pool), and then again with shares that fit the groups (refine.h).
// The result never needs more energy than the refined fastest plan.
Plan PlanLeastEnergy(const Graph& graph, const PoolCosts& pool);

}  // namespace mete
