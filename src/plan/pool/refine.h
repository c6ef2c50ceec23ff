// Refines a plan with shares in proportion to the processors' speeds on each group's own layers. The ratio of
// two processors' speeds may depend on the layers, because one processor has faster memory and the other
// faster arithmetic, and the layers of a group are known only when there is a plan.
//
// The refinement plans again with the placements of the plan and new ones: for each group of the plan, over
// each set of processors that the plan has and over all processors (FullSets()), by rows and by channels,
// with shares that fit the group's layers; between two processors also a grid of ratios (grid.h). It repeats
// this as long as the plan becomes cheaper. The planner is exact over a list that includes the old plan's
// placements, so that the new plan is never more expensive.
#pragma once

#include "plan/pool/dynamic.h"

namespace mete {

// Returns the refined plan, which is one of other placements. `plan` must come from PlanPool() over
// PlacementsOf(pool) with these options.
Plan RefineShares(const Graph& graph, const PoolCosts& pool, Plan plan, const DynamicOptions& options = {});

}  // namespace mete
