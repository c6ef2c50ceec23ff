// Which placements a planner for several devices weighs.
#pragma once

#include <cstddef>
#include <vector>

#include "costs/pool.h"
#include "plan/devices/placement.h"

namespace mete {

// Whether all figures of two devices are the same.
bool Alike(const DeviceCosts& a, const DeviceCosts& b);

// Of these devices, in proportion to their speeds over layers [first, last).
std::vector<double> SharesOf(const PoolCosts& pool, const std::vector<int>& devices, size_t first,
                             size_t last);

// Of all devices, in proportion to their speeds over all layers.
std::vector<double> SharesBySpeed(const PoolCosts& pool);

// Sets of devices that may share a group, each ascending: of up to six every subset, of devices alike the
// first ones; of more the fastest so many.
std::vector<std::vector<int>> DeviceSets(const PoolCosts& pool);

// The placements that a group may have: whole on each device, of those alike on the first; rows and channels
// over the sets of devices, in proportion to their speeds over all layers, over the first and over the second
// half. The first one is WholeOn(0).
std::vector<Placement> PlacementsOf(const PoolCosts& pool);

// Adds it unless there is one whose shares differ by less than a hundredth. Returns whether it was added.
bool AddPlacement(const Placement& placement, std::vector<Placement>& placements);

}  // namespace mete
