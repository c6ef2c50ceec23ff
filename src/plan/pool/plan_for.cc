#include "plan/pool/plan_for.h"

#include "plan/pool/dynamic.h"
#include "plan/pool/least_energy.h"
#include "plan/pool/pipeline.h"

namespace mete {

Plan PlanPoolFor(PoolObjective objective, const Graph& graph, const PoolCosts& pool) {
  Plan plan = objective == PoolObjective::kThroughput ? PlanShortestPeriod(graph, pool)
              : objective == PoolObjective::kEnergy   ? PlanLeastEnergy(graph, pool)
                                                      : PlanPool(graph, pool);
  RatePlan(plan, graph, pool);
  return plan;
}

}  // namespace mete
