// Plans that follow from what a plan took when it ran.
#pragma once

#include <vector>

#include "run/plan_in_use.h"
#include "run/plan_runner.h"

namespace mete {

// Runs `plan`, plans again with the costs that follow (run/corrected_costs.h), and so on with the plan that
// this gives, a few times. Returns the plan and those others, deployed. A plan that comes again gets the
// predictions of the later costs. Only where all processors are in this process: to others each plan has
// weights to send. Throws ProcessorError, and CANCELLED as the runner does.
std::vector<ReadyPlan> CorrectedPlans(ReadyPlan plan, const PoolPart& part, const PlanRunner& runner,
                                      const std::vector<Tensor>& inputs);

}  // namespace mete
