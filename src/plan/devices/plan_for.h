// The planner for several devices, by what a plan is to have least of.
#pragma once

#include "plan/devices/devices_plan.h"
#include "plan/devices/objective.h"

namespace mete {

// Complete, with its period and, where there are power figures, its joules. Error where `pool` does not fit
// the graph, or has no power figures where energy is asked for.
DevicesPlan PlanDevicesFor(DevicesObjective objective, const Graph& graph, const PoolCosts& pool);

}  // namespace mete
