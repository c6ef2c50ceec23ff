// Tries a plan before its use, because predictions may be wrong: a session must not be slower than its best
// single processor.
#pragma once

#include <string>

#include "run/plan_in_use.h"
#include "run/plan_runner.h"

namespace mete {

// Its name differs from that of processor/tuning, which compares kernels.
struct PlanTrial {
  ReadyPlan best;
  int measured = 0;  // plans that were run
  std::string note;  // why the best is a single processor; empty: it is not
};

// Whether a single processor may be faster than the best plan so far: the whole model on another processor is
// a further copy of all weights, and seconds of building kernels. A processor that becomes so much faster
// later is tried where it has a part in the plan, which shows its drift.
bool IsWorthATrial(const Plan& single, const ReadyPlan& best);

// Runs the plan, the plans that follow from its measured times (run/corrected_plans.h), and the plans of the
// best single processors in turns, and returns the fastest. A processor that has no room for the whole model
// is not tried. Throws ProcessorError, and CANCELLED as the runner does.
PlanTrial TryBesideSingles(const Plan& plan, const PoolPart& part, const PlanRunner& runner);

}  // namespace mete
