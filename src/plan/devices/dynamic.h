// The planner for several devices: groups of fused layers, and for each the devices that share it and how, with the least predicted
// time.
//
// Dynamic programming, exact for what it chooses among: every segmentation of the layers into groups, and for each group every placement
// of a list. Between groups values lie as the placement of the group before has them, and only what a device lacks is sent (exchange.h);
// a value that is only passed by lies as the last group says. The state is the boundary between layers and the placement; a step is a
// group. That a device is left out, or is the only one, are ordinary candidates.
//
// Source: Legion (systems.md, 3) for costs of fused groups from single layers; the state that has the placement in it, so that slices stay
// where they are, is ours.
#pragma once

#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/devices/devices_plan.h"

namespace mete {

// The placements that a group may have: whole on each device, of those alike on the first; rows and channels over subsets of the devices,
// in proportion to their speeds over all layers, over the first and over the second half. Of up to six devices every subset, of devices
// alike the first ones; of more the fastest so many. The first one is WholeOn(0).
std::vector<Placement> PlacementsOf(const PoolCosts& pool);

// Of all devices, in proportion to their speeds over all layers.
std::vector<double> SharesBySpeed(const PoolCosts& pool);

// Error where `pool` does not fit the graph. `placements` has WholeOn(0) first.
DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements);
DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool);

// What the best plan takes in which the device has a part of at least one group; infinite where no placement has it.
double UsWithDevice(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements, int device);

// One group on one device: the best single choice is the best of these.
DevicesPlan PlanAlone(const Graph& graph, const PoolCosts& pool, int device);

}  // namespace mete
