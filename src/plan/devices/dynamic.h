// The planner for several devices: groups of fused layers, and for each the devices that share it and how,
// with the least predicted time, or another price of a request that is a sum over its groups.
//
// Dynamic programming, exact for what it chooses among: every segmentation of the layers into groups, and for
// each group every placement of a list. Where the branches of a fork end, the list has placements, too, in
// which they lie on devices of their own (branches.h); a group may end so where at least two devices compute
// something of it. Right before a join, these are the only ones (PoolModel::IsBeforeJoin). Between groups
// values lie as the placement of the group before has them, and only what a device lacks is sent
// (exchange.h); a value that is only passed by lies as the last group says. The state is the boundary between
// layers and how values lie there; a step is a group. That a device is left out, or is the only one, are
// ordinary candidates.
//
// Exact, too, are the bounds that spare most of the work: what a group takes is added up only where what its
// devices compute and must get at the least (group_costs.h) does not make it dearer than what is known.
//
// Source: Legion (systems.md, 3) for costs of fused groups from single layers; the state that has the
// placement in it, so that slices stay where they are, is ours.
#pragma once

#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/devices/devices_plan.h"
#include "plan/devices/placements.h"

namespace mete {

// What a request costs that is to cost least: so much for each microsecond that it takes, and, where asked
// for, the joules of computing and of sending; these need power figures.
struct RequestPrice {
  double per_us = 1;
  bool joules = false;
};

struct DynamicOptions {
  RequestPrice price = {};
  bool branches = true;  // whether branches of a fork may lie on devices of their own
};

// Error where `pool` does not fit the graph. `placements` are those of every boundary, WholeOn(0) first.
DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
                        const DynamicOptions& options = {});
// The same of the plans in which none but `devices`, the caller's own among them, has a part of anything,
// though a placement may name it.
DevicesPlan PlanWithin(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
                       const std::vector<int>& devices, const DynamicOptions& options);
// Of PlacementsOf(pool), and then with shares that fit the groups that were found (refine.h).
DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool, const DynamicOptions& options = {});

// A device that a plan has no part for, and what the best plan takes in which it has one of at least one
// group, of the placements that were weighed first; infinite where none of them has it.
struct LeftOutDevice {
  int device = 0;
  double us = 0;
};

// The plan of PlanDevices(), and the devices that it leaves out; of those alike the first: others would
// change no more.
struct PlanAndLeftOut {
  DevicesPlan plan;
  std::vector<LeftOutDevice> left_out;
};
PlanAndLeftOut PlanDevicesAndLeftOut(const Graph& graph, const PoolCosts& pool);

// The same of any placements, for each of these devices.
std::vector<double> UsWithDevices(const Graph& graph, const PoolCosts& pool,
                                  const std::vector<Placement>& placements, const std::vector<int>& devices);

// One group on one device: the best single choice is the best of these.
DevicesPlan PlanAlone(const Graph& graph, const PoolCosts& pool, int device);

}  // namespace mete
