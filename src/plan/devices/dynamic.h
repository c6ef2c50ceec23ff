// The planner for several devices. It chooses groups of fused layers, and for each group the devices that
// share it and its placement, with the least predicted time, or another price of a request that is a sum over
// its groups.
//
// The planner is a dynamic program that is exact for its candidates: every segmentation of the layers into
// groups, and for each group every placement of a list. Where the branches of a fork end, the list also has
// placements in which the branches' values are on devices of their own (branches.h). A group may end in such
// a placement if at least two devices compute something in it, and right before a join only in such a one
// (PoolModel::IsBeforeJoin). Between two groups the values have the placement of the first group, and only
// the parts that a device lacks are sent (exchange.h). A value that a group does not use gets the placement
// of this group too. The state is a boundary between layers and the placement of the values there; a step is
// a group. Plans that leave a device out or use only one device are ordinary candidates.
//
// The bounds that save most of the work are exact too: the cost of a group is computed only if a lower bound,
// from what its devices compute and must at least receive (group_costs.h), is not above the best known price.
//
// Source: Legion (systems.md, 3) for the costs of fused groups from single layers. The placement in the
// state, by which slices stay where they are, is not from Legion.
#pragma once

#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/devices/placements.h"
#include "plan/plan.h"

namespace mete {

// The price of a request, which the planner minimizes: `per_us` for each microsecond of the request, and, if
// `joules` is true, the energy of computing and sending, which needs power figures.
struct RequestPrice {
  double per_us = 1;
  bool joules = false;
};

struct DynamicOptions {
  RequestPrice price = {};
  bool branches = true;  // whether branches of a fork may lie on devices of their own
};

// Error where `pool` does not fit the graph. `placements` are those of every boundary, WholeOn(0) first.
Plan PlanDevices(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
                 const DynamicOptions& options = {});
// The same of the plans in which none but `devices`, the caller's own among them, has a part of anything,
// though a placement may name it.
Plan PlanWithin(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
                const std::vector<int>& devices, const DynamicOptions& options);
// Of PlacementsOf(pool), and then with shares that fit the groups that were found (refine.h).
Plan PlanDevices(const Graph& graph, const PoolCosts& pool, const DynamicOptions& options = {});

// A device that a plan does not use, and the time of the best plan in which the device has a part of at least
// one group. This plan has the placements of the first round (before refine.h). The time is infinite if none
// of them has the device.
struct LeftOutDevice {
  int device = 0;
  double us = 0;
};

// The plan of PlanDevices(), and the devices that it leaves out. Of several equal devices only the first is
// listed, because the others would have the same effect.
struct PlanAndLeftOut {
  Plan plan;
  std::vector<LeftOutDevice> left_out;
};
PlanAndLeftOut PlanDevicesAndLeftOut(const Graph& graph, const PoolCosts& pool);

// Returns, for each of `devices`, the time of the best plan with any of `placements` in which the device has
// a part.
std::vector<double> UsWithDevices(const Graph& graph, const PoolCosts& pool,
                                  const std::vector<Placement>& placements, const std::vector<int>& devices);

// Returns the plan with one group on one device.
Plan PlanAlone(const Graph& graph, const PoolCosts& pool, int device);

}  // namespace mete
