// The best plan of very many: the planner `exhaustive`, beside which the others are seen on small graphs.
#pragma once

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/plan.h"

namespace mete {

// Returns the best of all segmentations of the layers into groups with all of these placements for each
// group: whole on each processor; rows and channels over each set of processors in all shares of tenths, and
// in those that PlanPool() weighs; every way to give the live values to processors, where there are at most
// 256 of them. No plan of PlanPool() is predicted to take less. The search is that of PlanPool(), whose
// bounds are exact. Error if there are too many pairs of groups and placements, which takes longer than a
// minute.
Plan PlanExhaustively(const Graph& graph, const PoolCosts& pool);

}  // namespace mete
