// A model on several processors: plans, deploys, and answers requests whatever becomes of the processors. One
// that dies, hangs or is late costs its request one retry: the request is then computed here alone, from a
// session that is always ready, while a thread of the session's makes the plan again without that processor.
// Lost processors are tried again, with back-off, and taken in when they are back. Where processors are for
// long faster or slower than the costs say, these are corrected and the plan is made again, if that gains
// something.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "run/back_off.h"
#include "run/deployed_plan.h"
#include "run/drift.h"
#include "costs/pool.h"
#include "plan/pool/objective.h"

namespace mete {

struct PoolSessionOptions {
  DeployOptions deploy;
  // plan/pool/named.h; planners that measure do so when the session is made
  std::string planner = "dynamic";
  PoolObjective objective = PoolObjective::kLatency;
  // A plan for all processors, which replaces the planner's while all of them are there.
  std::optional<Plan> plan = {};
  // of a request: others are given up in time to compute it here. 0: after four times the usual
  double deadline_ms = 0;
  bool remake = true;  // false: the first plan is kept as long as it works
  // Before a plan that divides the model is used it runs in turns with what the best single processors would
  // do, and the one that is the fastest is taken: predictions may err, and nobody wants to be slower than the
  // best single choice. Only of planner dynamic, and for latency.
  bool trial = true;
  // what fails though no processor does is tried again after so long. Guess
  std::chrono::milliseconds again{10'000};
  // ends the making of a session, which then throws CANCELLED; planning itself ends first
  const CancelToken* cancel = nullptr;
  WeightsProgress progress = [](const std::string&, int64_t, int64_t) {};
  // What happens to processors, in a line: one at a time, by any thread, which may use the session but not
  // end it. Does not throw.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

struct PoolSessionStats {
  int64_t requests = 0;
  int64_t retries = 0;  // requests that were computed again, as a processor failed
  int64_t plans = 0;    // that were deployed
  int64_t lost = 0;     // times that a processor was
  int measured = 0;     // plans or parts of plans that a planner, or the last trial, had run
  double plan_s = 0;    // that the planner took, with what it measured
  double usual_us = 0;  // of a request by the plan in use: of its trial, then as measured; 0: not known yet
};

struct RequestReport {
  double us = 0;
  bool alone = true;  // computed by this processor alone, planned or not
  bool retried = false;
  // by processor of the plan, what it computed for the request; empty where this processor did it alone
  std::vector<double> compute_us;
};

// A plan that ran in turns with others.
struct ComparedPlan {
  std::string name;  // "chosen", of the session; "alone NAME"; or of the planner
  Plan plan;
  double plan_s = 0;       // that planning took, with what the planner had run
  int measured = 0;        // plans or parts of plans that it had run
  std::vector<double> us;  // of each round
  // which of those compared has the processors do the same: itself, or an earlier one whose runs count for
  // both
  size_t same_as = 0;
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

  // The plan in use, each processor alone, and what `planners` plan, in turns on these inputs, the second run
  // of each turn counts; plans that are the same have one turn. For comparisons; no requests may run. Nothing
  // is planned again meanwhile. Error where a processor fails.
  std::vector<ComparedPlan> Compare(const std::vector<std::string>& planners,
                                    const std::vector<Tensor>& inputs, int rounds);

  double prepare_ms() const { return alone_->prepare_ms(); }  // of the model on the home
  Plan plan() const;  // of the processors that are there; the one in use
  PoolSessionStats stats() const;
  // All of the model on the home alone, as retries compute it.
  std::vector<Tensor> RunAtHome(std::span<const Tensor> inputs) { return alone_->Run(inputs, {}); }

 private:
  using Clock = BackOff::Clock;
  struct MemberState {
    bool there = true;
    BackOff back_off;
    // why it cannot serve, as was told; of one that serves, or is lost in another way, none
    std::optional<Code> refusal;
    double scale = 1;       // of the costs, by what was measured
    double planned_us = 0;  // that the plan in use predicts for it to compute
    ProcessorDrift drift;   // of what it takes from that
  };
  // A plan, deployed.
  struct ReadyPlan {
    Plan plan;
    std::shared_ptr<DeployedPlan> deployed;  // null: this processor alone
    double usual_us = 0;                     // of a request; 0: nobody has tried
  };

  void CheckEnding() const {  // Error CANCELLED
    if (ending_.cancelled()) throw Error(Code::kCancelled, "[processors] the session ends");
  }
  std::vector<Tensor> RunAlone(std::span<const Tensor> inputs);
  std::shared_ptr<DeployedPlan> Current() const;
  std::chrono::microseconds Patience() const;
  void Lost(const std::shared_ptr<DeployedPlan>& deployed, const Error& error);
  // mutex_ is locked; TellAll() when it is not any more. `refuses`: it is there, and that will not pass by
  // itself.
  void LoseMember(size_t processor, const Error& error, bool refuses);
  void Tell(const std::string& note);
  void TellAll();  // what is in untold_, in order; mutex_ is not locked
  void Learn(const RequestTimes& times, const DeployedPlan* deployed);  // null: alone

  void End();           // whatever is under way gives up
  void FirstRebuild();  // in the constructor
  void Keep();          // the thread
  bool TryAgain();      // whether somebody has come back
  bool Correct();       // costs by what was measured; whether that is worth another plan
  void Rebuild();
  bool Deploy();  // false: a processor was lost meanwhile
  void StayAlone(const std::string& why);
  void Use(const std::vector<size_t>& members, ReadyPlan ready);
  bool PlanServesAll() const;  // the plan in use is of all who are there, and works
  void DropSilent();
  bool SaysHello(size_t processor);                                       // else it is lost
  std::vector<size_t> WhoAnswers(const std::vector<size_t>& processors);  // the others are lost
  std::vector<size_t> There() const;  // mutex_ is locked; also the next ones
  PoolCosts CostsOf(const std::vector<size_t>& members) const;
  ComparedPlan MakePlan(const std::string& planner, const PoolCosts& costs,
                        const std::vector<Member*>& members);
  // The plan of the options, or the planner's.
  ComparedPlan MakeOwnPlan(const PoolCosts& costs, const std::vector<Member*>& members);
  double MeasurePlan(Plan plan, const PoolCosts& costs, const std::vector<Member*>& members);
  // null: this processor alone
  std::shared_ptr<DeployedPlan> DeployPlan(const Plan& plan, const std::vector<Member*>& members);
  std::vector<Plan> SinglesBeside(const Plan& plan, const PoolCosts& costs) const;
  std::vector<ReadyPlan> DeployBeside(const Plan& plan, const PoolCosts& costs,
                                      const std::vector<Member*>& members);
  // The plan, or what is faster where it is tried.
  ReadyPlan Best(const Plan& plan, const PoolCosts& costs, const std::vector<Member*>& members);
  double RunOnce(DeployedPlan* deployed, const std::vector<Tensor>& inputs);  // microseconds

  const Graph graph_;
  const std::vector<Port> inputs_;
  const PoolCosts costs_;
  const std::shared_ptr<Processor> home_;
  const std::vector<std::unique_ptr<Member>> pool_;  // by processor of the costs
  const PoolSessionOptions options_;
  const std::shared_ptr<Ready> alone_;  // all of the graph on the home
  const HomeProcessor own_;
  CancelToken ending_;

  std::mutex keeping_;     // whoever asks processors, plans and deploys has it: the keeper, or Compare()
  std::string why_alone_;  // though processors are there; empty: it is not
  std::optional<Clock::time_point> again_at_;  // when that is tried again

  mutable std::mutex mutex_;  // all below
  std::condition_variable wake_;
  std::vector<MemberState> states_;
  std::vector<size_t> planned_;  // who the plan is over, by its processors' indices
  Plan plan_;
  std::shared_ptr<DeployedPlan> deployed_;  // null: this processor alone
  double usual_us_ = 0;
  double alone_us_ = 0;  // of a request here alone: as the costs say, then as measured
  bool rebuild_ = false, telling_ = false;
  std::deque<std::string> untold_;
  PoolSessionStats stats_;
  std::thread keeper_;
};

}  // namespace mete
