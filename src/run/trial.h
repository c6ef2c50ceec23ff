// Tries a plan before its use, because predictions may be wrong: a session must not be slower than its best
// single processor.
#pragma once

#include <string>

#include "run/plan_in_use.h"
#include "run/plan_runner.h"

namespace mete {

struct Trial {
  ReadyPlan best;
  int measured = 0;  // plans that were run
  std::string note;  // why the best is a single processor; empty: it is not
};

// Runs the plan, the plans that follow from its measured times (run/corrected_plans.h), and the plans of the
// best single processors in turns, and returns the fastest. A processor that has no room for the whole model
// is not tried. Throws ProcessorError, and CANCELLED as the runner does.
Trial TryBesideSingles(const Plan& plan, const PoolPart& part, const PlanRunner& runner);

}  // namespace mete
