// Makes and deploys plans on the processors of a session, and runs the plans that a planner, the trial or a
// comparison measures.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/pool/objective.h"
#include "run/deployed_plan.h"
#include "run/home_model.h"
#include "run/plan_in_use.h"
#include "run/pool_members.h"
#include "run/teller.h"

namespace mete {

struct MadePlan {
  Plan plan;
  double plan_s = 0;  // seconds of planning, with the planner's measurements
  int measured = 0;   // plans or parts of plans that the planner has run
};

class PlanRunner {
 public:
  // This object keeps the references. Every function below throws CANCELLED once `ending` is cancelled.
  PlanRunner(const Graph& graph, const HomeModel& home, const DeployOptions& options,
             WeightsProgress progress, Teller& teller, const CancelToken& ending);

  MadePlan Make(const std::string& planner, PoolObjective objective, const PoolPart& part) const;
  // Returns null if the model that is ready on the home computes all of the plan. Throws ProcessorError.
  std::shared_ptr<DeployedPlan> Deploy(const Plan& plan, const std::vector<Member*>& members) const;
  // Returns the microseconds of a run; the home runs alone if `deployed` is null. Throws ProcessorError.
  double RunOnce(DeployedPlan* deployed, const std::vector<Tensor>& inputs) const;

  // Fills in the threads of the steps of a plan in use, as far as its processors are of this process.
  void PutThreads(ReadyPlan& ready) const;

  const Graph& graph() const { return graph_; }

 private:
  void CheckEnding() const;
  bool IsOfHomeModel(const Plan& plan) const;
  double Measure(Plan plan, const PoolPart& part) const;  // microseconds, the median
  std::shared_ptr<DeployedPlan> DeployAnyway(const Plan& plan, const std::vector<Member*>& members) const;

  const Graph& graph_;
  const HomeModel& home_;
  const HomeProcessor home_processor_;
  const DeployOptions options_;
  const WeightsProgress progress_;
  Teller& teller_;
  const CancelToken& ending_;
};

// Returns the processor that computes all of the plan; -1 where several do.
int OnlyProcessor(const Plan& plan);

// Returns true if the processors do the same work for both plans.
bool SameWork(const Plan& a, const Plan& b);

// Returns the time in the middle of an odd number of times.
double MedianOf(std::vector<double> us);

}  // namespace mete
