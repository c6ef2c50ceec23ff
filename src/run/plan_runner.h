// Makes and deploys plans on the processors of a session, and runs those that somebody wants to see measured:
// a planner, the trial, a comparison.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/pool/objective.h"
#include "run/deployed_plan.h"
#include "run/home_model.h"
#include "run/pool_members.h"
#include "run/teller.h"

namespace mete {

struct MadePlan {
  Plan plan;
  double plan_s = 0;  // that planning took, with what the planner had run
  int measured = 0;   // plans or parts of plans that it had run
};

class PlanRunner {
 public:
  // Keeps the references. Everything below throws CANCELLED once `ending` is cancelled.
  PlanRunner(const Graph& graph, const HomeModel& home, const DeployOptions& options,
             WeightsProgress progress, Teller& teller, const CancelToken& ending);

  MadePlan Make(const std::string& planner, PoolObjective objective, const PoolPart& part) const;
  // Null: the home alone. Throws ProcessorError.
  std::shared_ptr<DeployedPlan> Deploy(const Plan& plan, const std::vector<Member*>& members) const;
  // Microseconds. `deployed` null: the home alone. Throws ProcessorError.
  double RunOnce(DeployedPlan* deployed, const std::vector<Tensor>& inputs) const;

  const Graph& graph() const { return graph_; }

 private:
  void CheckEnding() const;
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

// The processor that computes all of the plan; -1 where several do.
int OnlyProcessor(const Plan& plan);

// Whether the processors do the same for both, whoever planned it.
bool SameWork(const Plan& a, const Plan& b);

// Of an odd number of times the one in the middle.
double MedianOf(std::vector<double> us);

}  // namespace mete
