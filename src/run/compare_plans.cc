#include "run/compare_plans.h"

#include <algorithm>

#include "plan/pool/named.h"

namespace mete {
namespace {

std::vector<ComparedPlan> PlansToCompare(const HeldPlans& held, const std::vector<std::string>& planners) {
  std::vector<ComparedPlan> plans{{"chosen", held.chosen, {}}};
  for (size_t d = 0; d < held.part.members.size(); ++d)
    plans.push_back({"alone " + held.part.costs.processors[d].name,
                     {PlanAlone(held.runner.graph(), held.part.costs, int(d)), 0, 0},
                     {}});
  for (const std::string& planner : planners)
    plans.push_back({planner, held.runner.Make(planner, held.objective, held.part), {}});
  for (ComparedPlan& plan : plans)
    plan.same_as = size_t(
        std::find_if(plans.begin(), plans.end(),
                     [&](const ComparedPlan& other) { return SameWork(other.made.plan, plan.made.plan); }) -
        plans.begin());
  return plans;
}

}  // namespace

std::vector<ComparedPlan> ComparePlans(PoolSession& session, const std::vector<std::string>& planners,
                                       const std::vector<Tensor>& inputs, int rounds) {
  const HeldPlans held = session.HoldPlans();
  std::vector<ComparedPlan> plans = PlansToCompare(held, planners);
  std::vector<std::shared_ptr<DeployedPlan>> deployed{held.deployed};
  for (size_t i = 1; i < plans.size(); ++i)
    deployed.push_back(plans[i].same_as < i ? deployed[plans[i].same_as]
                                            : held.runner.Deploy(plans[i].made.plan, held.part.members));
  std::vector<std::vector<GroupTimes>> groups(plans.size());
  for (int round = -1; round < rounds; ++round)
    for (size_t k = 0; k < plans.size(); ++k) {
      const size_t i = (k + size_t(round + 1)) % plans.size();  // the first one finds other caches
      if (plans[i].same_as < i) continue;
      // The first run finds what others left in the caches, and cores that have slept.
      (void)held.runner.RunOnce(deployed[i].get(), inputs);
      const double us = held.runner.RunOnce(deployed[i].get(), inputs);
      if (round < 0) continue;
      plans[i].us.push_back(us);
      if (deployed[i]) groups[i].push_back(deployed[i]->LastStages());
    }
  for (size_t i = 0; i < plans.size(); ++i) {
    const size_t ran = plans[i].same_as;
    plans[i].us = plans[ran].us;
    if (!groups[ran].empty()) plans[i].groups = MediansOf(groups[ran]);
  }
  return plans;
}

}  // namespace mete
