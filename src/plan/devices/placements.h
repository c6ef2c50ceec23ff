// The placements that a planner for several devices considers.
#pragma once

#include <cstddef>
#include <vector>

#include "costs/pool.h"
#include "plan/placement.h"

namespace mete {

// Returns whether all figures of two devices are the same.
bool Alike(const DeviceCosts& a, const DeviceCosts& b);

// Returns shares for `devices` in proportion to their speeds over layers [first, last).
std::vector<double> SharesOf(const PoolCosts& pool, const std::vector<int>& devices, size_t first,
                             size_t last);

// Returns shares for all devices in proportion to their speeds over all layers.
std::vector<double> SharesBySpeed(const PoolCosts& pool);

// Returns the sets of devices that may share a group, each ascending. With up to six devices these are all
// subsets, where of equal devices only the first ones are taken; with more devices they are the fastest n
// devices for several n.
std::vector<std::vector<int>> DeviceSets(const PoolCosts& pool);

// Returns the placements that a group may have: whole on each device (of equal devices on the first), and
// rows and channels over the sets of devices, in proportion to their speeds over all layers, over the first
// half and over the second half. The first placement is WholeOn(0).
std::vector<Placement> PlacementsOf(const PoolCosts& pool);

// Adds a placement unless the list has one whose shares differ by less than a hundredth. Returns whether it
// was added.
bool AddPlacement(const Placement& placement, std::vector<Placement>& placements);

}  // namespace mete
