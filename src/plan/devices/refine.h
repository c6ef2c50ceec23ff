// Shares in proportion to devices' speeds on a group's own layers: how much faster one device is than another
// may depend on the layers, as one has fast memory and the other fast arithmetic, and which layers are a
// group is only known when there is a plan.
//
// So a plan that was found is planned again, of the placements that it has and of new ones: for each of its
// groups of rows or channels, over each set of devices that it has and over all devices, by rows and by
// channels, with the shares that fit the group's layers; and so on, as long as that is cheaper. The planner
// is exact over a list that has the old plan in it: the new one is never dearer.
#pragma once

#include "plan/devices/dynamic.h"

namespace mete {

// `plan` is of PlanDevices() over PlacementsOf(pool) with these options; so is what is returned, over another
// list.
DevicesPlan RefineShares(const Graph& graph, const PoolCosts& pool, DevicesPlan plan,
                         const DynamicOptions& options = {});

}  // namespace mete
