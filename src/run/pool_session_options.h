// What a session on several processors is told when it is made.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "plan/plan.h"
#include "plan/pool/objective.h"
#include "run/deployed_plan.h"

namespace mete {

struct PoolSessionOptions {
  DeployOptions deploy;  // its clock is also the one by which what is lost or fails is tried again
  // plan/pool/named.h; planners that measure do so when the session is made
  std::string planner = "dynamic";
  PoolObjective objective = PoolObjective::kLatency;
  // A plan for all processors, which replaces the planner's while all of them are there.
  std::optional<Plan> plan = {};
  // of a request: others are given up in time to compute it here. 0: after four times the usual
  double deadline_ms = 0;
  bool remake = true;  // false: the first plan is kept as long as it works
  // Before a plan that divides the model is used it runs in turns with what the best single processors would
  // do, and the one that is the fastest is taken (run/trial.h). Only of planner dynamic, and for latency.
  bool trial = true;
  // what fails though no processor does is tried again after so long. Guess
  std::chrono::milliseconds again{10'000};
  // a processor that does not answer for so long is lost. Guess: more than a busy board is late
  std::chrono::milliseconds hello_timeout{1000};
  // ends the making of a session, which then throws CANCELLED; planning itself ends first
  const CancelToken* cancel = nullptr;
  WeightsProgress progress = [](const std::string&, int64_t, int64_t) {};
  // What happens to processors, in a line: one at a time, by any thread, which may use the session but not
  // end it. Does not throw.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

}  // namespace mete
