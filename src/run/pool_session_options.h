// The options of a session on several processors.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "costs/pool.h"
#include "plan/plan.h"
#include "plan/pool/objective.h"
#include "run/deployed_plan.h"

namespace mete {

// What measures costs works with the processors of the session that are there.
struct ToMeasure {
  Processor& home;
  Turn& turn;                      // of the threads that compute on the home
  std::vector<size_t> processors;  // their numbers in the pool; the first is the home's
  std::vector<Member*> members;    // theirs; the home's is null
  const CancelToken& cancel;
};
// Returns the costs of these processors in their order.
using MeasureCosts = std::function<PoolCosts(const ToMeasure&)>;

struct PoolSessionOptions {
  DeployOptions deploy;  // its clock also times the attempts after losses and failures
  // a name of plan/pool/named.h; a planner that measures does so in the session's constructor
  std::string planner = "dynamic";
  PoolObjective objective = PoolObjective::kLatency;
  // A plan for all processors, which replaces the planner's while all of them are there.
  std::optional<Plan> plan = {};
  // Milliseconds of a request: late processors are given up in time for the home to compute it. 0: four
  // times the usual time, and 250 ms.
  double deadline_ms = 0;
  bool remake = true;  // false: the first plan is kept as long as it works
  // Before a plan that divides the model is used, it runs in turns with the best single processors, and the
  // session takes the fastest of them (run/trial.h). Only for the planner dynamic and for latency.
  bool trial = true;
  // the time until the session plans again after a failure that is no processor's. Guess
  std::chrono::milliseconds again{10'000};
  // A processor that does not answer for this time is lost. Guess: more than a busy board is late.
  std::chrono::milliseconds hello_timeout{1000};
  // Ends the session's constructor, which then throws CANCELLED; a plan that is being made is finished
  // first.
  const CancelToken* cancel = nullptr;
  // Measures the costs, where nobody has yet; null: the session's constructor gets them. The keeper calls it
  // when processors are there that were never measured, while the home alone computes requests, by its turns,
  // also where a processor has come late. After it has failed it is called once more if the
  // Error is UNAVAILABLE, and for fewer processors if one of them has gone. Throws CANCELLED as `cancel`
  // asks.
  MeasureCosts measure = {};
  WeightsProgress progress = [](const std::string&, int64_t, int64_t) {};
  // Gets notes about the processors, a line each: one at a time, from any thread. The function may use the
  // session, must not destroy it, and does not throw.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

}  // namespace mete
