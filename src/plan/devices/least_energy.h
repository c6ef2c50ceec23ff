// The plan for several devices with the least joules of a request (objective.h says which joules count).
//
// What devices take while they are on and idle goes with the time of the whole request, and so couples all of
// its groups. For one set of devices that are on it is a fixed number of watts, and then the price of a
// request is a sum over its groups that dynamic.h makes least, exactly. So every set is tried: the caller's
// own device with each of DeviceSets(). A set whose idle watts alone, for the least time that any plan takes,
// make it dearer than the best one so far is left out.
#pragma once

#include "plan/devices/devices_plan.h"

namespace mete {

// Error where a device has no power figures, or `pool` does not fit the graph.
DevicesPlan PlanLeastEnergy(const Graph& graph, const PoolCosts& pool,
                            const std::vector<Placement>& placements);
// Of PlacementsOf(pool), and then with shares that fit the groups (refine.h); never more than the fastest
// plan, refined, takes.
DevicesPlan PlanLeastEnergy(const Graph& graph, const PoolCosts& pool);

}  // namespace mete
