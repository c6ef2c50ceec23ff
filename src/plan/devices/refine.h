// Refines a plan with shares in proportion to the devices' speeds on each group's own layers. The ratio of
// two devices' speeds may depend on the layers, because one device has faster memory and the other faster
// arithmetic, and the layers of a group are known only when there is a plan.
//
// The refinement plans again with the placements of the plan and new ones: for each group of the plan, over
// each set of devices that the plan has and over all devices, by rows and by channels, with shares that fit
// the group's layers. It repeats this as long as the plan becomes cheaper. The planner is exact over a list
// that includes the old plan's placements, so that the new plan is never more expensive.
#pragma once

#include "plan/devices/dynamic.h"

namespace mete {

// Returns the refined plan, which is one of other placements. `plan` must come from PlanDevices() over
// PlacementsOf(pool) with these options.
Plan RefineShares(const Graph& graph, const PoolCosts& pool, Plan plan, const DynamicOptions& options = {});

}  // namespace mete
