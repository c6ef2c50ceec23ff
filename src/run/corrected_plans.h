// Plans by costs that are corrected by the measured times of a plan.
#pragma once

#include <vector>

#include "run/plan_in_use.h"
#include "run/plan_runner.h"

namespace mete {

// Runs `plan`, plans again with the costs that follow from its times (run/corrected_costs.h), and repeats
// this a few times with the new plan. Returns all of these plans, deployed. A plan that is made a second
// time gets the predictions of the later costs. If a processor is not of this process, only `plan` is
// returned, because each further plan would have weights to send. Throws ProcessorError, and CANCELLED as
// the runner does.
std::vector<ReadyPlan> CorrectedPlans(ReadyPlan plan, const PoolPart& part, const PlanRunner& runner,
                                      const std::vector<Tensor>& inputs);

}  // namespace mete
