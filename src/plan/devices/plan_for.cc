#include "plan/devices/plan_for.h"

#include "plan/devices/dynamic.h"
#include "plan/devices/least_energy.h"
#include "plan/devices/pipeline.h"

namespace mete {

Plan PlanDevicesFor(DevicesObjective objective, const Graph& graph, const PoolCosts& pool) {
  Plan plan = objective == DevicesObjective::kThroughput ? PlanShortestPeriod(graph, pool)
              : objective == DevicesObjective::kEnergy   ? PlanLeastEnergy(graph, pool)
                                                         : PlanDevices(graph, pool);
  RatePlan(plan, graph, pool);
  return plan;
}

}  // namespace mete
