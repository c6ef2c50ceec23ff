// Plans by costs that are corrected by the measured times of the plans before.
#pragma once

#include <optional>
#include <vector>

#include "run/plan_in_use.h"
#include "run/plan_runner.h"

namespace mete {

class CorrectedPlans {
 public:
  // `part` has the costs of the first plan. This object keeps the references.
  CorrectedPlans(const PoolPart& part, const PlanRunner& runner, const std::vector<Tensor>& inputs);

  // Runs a deployed plan, and plans again with the costs that follow from its times
  // (run/corrected_costs.h). Returns nothing if the new plan has been made before, uses one processor alone,
  // or would be one more than a few, and if a processor is not of this process, because each further plan
  // would have weights to send. Throws ProcessorError, and CANCELLED as the runner does.
  std::optional<Plan> After(const ReadyPlan& ready);

  const PoolCosts& costs() const { return part_.costs; }  // that follow from all times so far

  // Returns the plan; one that was made several times has the predictions of the latest costs.
  Plan WithLatestCosts(const Plan& plan) const;

 private:
  PoolPart part_;
  const PlanRunner& runner_;
  const std::vector<Tensor>& inputs_;
  std::vector<Plan> made_;
};

}  // namespace mete
