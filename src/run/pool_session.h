// A session of a model on several processors: it plans, deploys, and answers every request, also if
// processors fail. A processor that dies, hangs or is late costs its request one retry: the home computes
// the request alone, by a model that is always ready (run/home_model.h), while the keeper plans again
// without this processor (run/keeper.h). Lost processors are tried again, with back-off, and get a part
// again when they are back (run/pool_members.h). If processors are faster or slower than the costs say for
// long (run/plan_in_use.h), the session corrects the costs, and plans again if that gains something.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "costs/pool.h"
#include "graph/ports.h"
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
  int64_t retries = 0;  // requests that the home computed again, because a processor failed
  int64_t plans = 0;    // this member and the next two: as in KeeperStats
  int measured = 0;
  double plan_s = 0;
  int64_t lost = 0;     // losses of processors
  double usual_us = 0;  // time of a request by the plan in use: of its trial, then as measured; 0: unknown
};

struct RequestReport {
  double us = 0;
  bool alone = true;  // the home alone has computed the request, planned or not
  bool retried = false;
  // by processor of the plan: its computing time, and its name; empty if the home alone has computed the
  // request
  std::vector<double> compute_us;
  std::vector<std::string> processors = {};
};

// The plan in use, and the runner of other plans. The keeper plans nothing while this object lives.
struct HeldPlans {
  std::unique_lock<std::mutex> pause;
  const PlanRunner& runner;
  PoolObjective objective;
  PoolPart part;  // the processors of the plan in use
  MadePlan chosen;
  std::shared_ptr<DeployedPlan> deployed;
};

class PoolSession {
 public:
  // `graph` is the graph before the pass `layout`. The calling threads compute on `home`. `members` has one
  // for each processor of the costs; the first, the home's, is null. A member that does not answer is left
  // out, and tried again later. If a member builds kernels (Member::PreparesLate), or the costs are to be
  // measured (PoolSessionOptions::measure), the home computes alone until the keeper has made the first plan,
  // so that the first answer waits for neither. Error if the costs are not those of the graph's layers, or if
  // there is no processor; CANCELLED.
  PoolSession(Graph graph, PoolCosts costs, std::shared_ptr<Processor> home,
              std::vector<std::unique_ptr<Member>> members, PoolSessionOptions options);
  ~PoolSession();

  // Inputs and outputs are in the graph's order. Errors are those of the inputs and of the data.
  // Thread-safe; as many requests as there are lanes run at a time.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, RequestReport* report = nullptr);
  // Writes the outputs to the caller's memory. Error also for an output whose shape depends on data. The
  // session copies the inputs for a plan, because a late processor may still read them after the run. A
  // steady run over processors of this process allocates nothing.
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, RequestReport* report = nullptr);
  // Computes the whole model on the home alone, as a retry does.
  std::vector<Tensor> RunAtHome(std::span<const Tensor> inputs);
  void RunAtHome(std::span<const ConstView> inputs, std::span<const View> outputs);

  double prepare_ms() const { return home_.prepare_ms(); }  // of the model on the home
  Plan plan() const { return in_use_.plan(); }              // of the processors that are there
  PoolSessionStats stats() const;
  // Returns by a processor's name what its shares have in this process's memory.
  std::map<std::string, ProcessorMemory> memory() const;
  bool has_first_plan() const { return keeper_.has_first(); }  // whether it was made, or cannot be
  void AwaitFirstPlan() { keeper_.AwaitFirst(); }
  // For comparisons (run/compare_plans.h). Error UNAVAILABLE if the plan in use has failed and the keeper has
  // put no other in use yet.
  HeldPlans HoldPlans();

 private:
  // The memory of a request, kept for later requests.
  struct RequestMemory {
    std::vector<Tensor> inputs, outputs;
    std::vector<ConstView> views;
    RequestTimes times;
  };
  class TakenMemory;

  // Returns true if the plan has computed the request, into memory.outputs; otherwise the home must.
  // `deployed` null: the home computes all of the plan in use.
  bool RunPlan(const std::shared_ptr<DeployedPlan>& deployed, std::span<const Tensor> inputs,
               RequestMemory& memory, RequestReport& report);
  static void TellTimes(const DeployedPlan& deployed, const RequestMemory& memory, RequestReport& report);
  void Count(const RequestReport& report);
  std::chrono::microseconds Patience() const;
  void Lost(const std::shared_ptr<DeployedPlan>& deployed, const Error& error);
  void End();  // gives up all work under way

  const Graph graph_;
  const std::vector<Port> inputs_, outputs_;
  const PoolSessionOptions options_;
  CancelToken ending_;
  Teller teller_;
  HomeModel home_;
  PoolMembers members_;
  const PlanRunner runner_;
  PlanInUse in_use_;
  mutable std::mutex mutex_;
  int64_t requests_ = 0, retries_ = 0;
  std::vector<std::unique_ptr<RequestMemory>> memories_;  // memories that no request uses
  Keeper keeper_;                                         // last: its thread uses all of the above
};

}  // namespace mete
