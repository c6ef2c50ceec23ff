// A model on several processors: plans, deploys, and answers requests whatever becomes of the processors. One
// that dies, hangs or is late costs its request one retry: the request is then computed here alone, from a
// model that is always ready (run/home_model.h), while the keeper makes the plan again without that processor
// (run/keeper.h). Lost processors are tried again, with back-off, and taken in when they are back
// (run/pool_members.h). Where processors are for long faster or slower than the costs say
// (run/plan_in_use.h), these are corrected and the plan is made again, if that gains something.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "costs/pool.h"
#include "graph/ports.h"
#include "run/buffers.h"
#include "run/home_model.h"
#include "run/keeper.h"
#include "run/plan_in_use.h"
#include "run/plan_runner.h"
#include "run/pool_members.h"
#include "run/pool_session_options.h"
#include "run/teller.h"

namespace mete {

struct PoolSessionStats {
  int64_t requests = 0;
  int64_t retries = 0;  // requests that were computed again, as a processor failed
  int64_t plans = 0;    // as KeeperStats has it, also the next two
  int measured = 0;
  double plan_s = 0;
  int64_t lost = 0;     // times that a processor was
  double usual_us = 0;  // of a request by the plan in use: of its trial, then as measured; 0: not known yet
};

struct RequestReport {
  double us = 0;
  bool alone = true;  // computed by this processor alone, planned or not
  bool retried = false;
  // by processor of the plan, what it computed for the request; empty where this processor did it alone
  std::vector<double> compute_us;
};

// Has the plan in use and what runs others. Nothing is planned again while the object lives.
struct HeldPlans {
  std::unique_lock<std::mutex> pause;
  const PlanRunner& runner;
  PoolObjective objective;
  PoolPart part;  // that the plan is of
  MadePlan chosen;
  std::shared_ptr<DeployedPlan> deployed;
};

class PoolSession {
 public:
  // `graph` as it is before the pass `layout`. `home`: on which the calling threads compute. `members`: one
  // for each processor of the costs, the first, the home's, null. A member that does not answer is left out,
  // and tried again later. Error where the costs are not of the graph's layers, or there is nothing to run it
  // on; CANCELLED.
  PoolSession(Graph graph, PoolCosts costs, std::shared_ptr<Processor> home,
              std::vector<std::unique_ptr<Member>> members, PoolSessionOptions options);
  ~PoolSession();

  // Inputs and outputs in the graph's order. Errors: of the inputs, and what data cause. Thread-safe;
  // requests at a time: the lanes.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, RequestReport* report = nullptr);
  // Writes the outputs to memory of the caller's. Error also for an output whose shape depends on data. The
  // inputs are copied, because a processor that is late may still read them when the run is over. A steady
  // run over processors of this process allocates nothing.
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, RequestReport* report = nullptr);
  // Computes all of the model on the home alone, as for retries.
  std::vector<Tensor> RunAtHome(std::span<const Tensor> inputs);
  void RunAtHome(std::span<const ConstView> inputs, std::span<const View> outputs);

  double prepare_ms() const { return home_.prepare_ms(); }  // of the model on the home
  Plan plan() const { return in_use_.plan(); }              // of the processors that are there
  PoolSessionStats stats() const;
  // Comparisons use this (run/compare_plans.h).
  HeldPlans HoldPlans();

 private:
  // What a request works with, kept for later ones.
  struct RequestMemory {
    std::vector<Tensor> inputs, outputs;
    std::vector<ConstView> views;
    RequestTimes times;
  };
  class TakenMemory;

  // Returns true if the plan in use has computed the request, into memory.outputs; the home has to otherwise.
  bool RunPlan(std::span<const Tensor> inputs, RequestMemory& memory, RequestReport& report);
  void Count(const RequestReport& report);
  std::chrono::microseconds Patience() const;
  void Lost(const std::shared_ptr<DeployedPlan>& deployed, const Error& error);
  void End();  // whatever is under way gives up

  const Graph graph_;
  const std::vector<Port> inputs_, outputs_;
  const PoolCosts costs_;
  const PoolSessionOptions options_;
  CancelToken ending_;
  Teller teller_;
  HomeModel home_;
  PoolMembers members_;
  const PlanRunner runner_;
  PlanInUse in_use_;
  Buffers buffers_;  // for the inputs of requests
  mutable std::mutex mutex_;
  int64_t requests_ = 0, retries_ = 0;
  std::vector<std::unique_ptr<RequestMemory>> memories_;  // that no request has
  Keeper keeper_;                                         // last: its thread uses all of the above
};

}  // namespace mete
