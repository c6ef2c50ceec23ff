// Why a group of a plan lies as it does: what a request would take if it lay otherwise.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "plan/pool/group_costs.h"

namespace mete {

// Another placement of one group, while all other groups stay as they are.
struct Instead {
  Placement placement;
  double us = 0;  // of the request
};

// Returns for each group of the plan some other placements, the best one first: whole on each of the first
// processors, and divided along the other axes over the group's processors, or over all of a small pool if
// one has the group; also over those that are the same hardware (ProcessorCosts::unit) as one of these. There
// are none for a group that ends before a join or has no layers (the planner weighs no others there).
std::vector<std::vector<Instead>> InsteadOf(PoolModel& model, const Plan& plan);

}  // namespace mete
