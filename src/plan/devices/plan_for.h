// The planner for several devices, by objective.
#pragma once

#include "plan/devices/objective.h"
#include "plan/plan.h"

namespace mete {

// Returns the best plan for the objective, with its period and, if the pool has power figures, its joules.
// Error if `pool` does not fit the graph, or if the objective is energy and a device has no power figures.
Plan PlanDevicesFor(DevicesObjective objective, const Graph& graph, const PoolCosts& pool);

}  // namespace mete
