#include "run/corrected_plans.h"

#include <algorithm>

#include "plan/pool/segments.h"
#include "run/corrected_costs.h"

namespace mete {
namespace {

constexpr int kRuns = 7;         // of a plan, whose medians count; guess
constexpr int kCorrections = 3;  // guess: later ones change little

struct Measured {
  GroupTimes groups;
  double us = 0;  // of a request
};

// Returns the medians of some runs.
Measured Measure(DeployedPlan& deployed, const PlanRunner& runner, const std::vector<Tensor>& inputs) {
  std::vector<GroupTimes> runs;
  std::vector<double> us;
  for (int run = -1; run < kRuns; ++run) {
    const double run_us = runner.RunOnce(&deployed, inputs);
    if (run < 0) continue;
    runs.push_back(deployed.LastStages());
    us.push_back(run_us);
  }
  return {MediansOf(runs), MedianOf(std::move(us))};
}

bool AreHere(const std::vector<Member*>& members) {
  return std::all_of(members.begin(), members.end(),
                     [](const Member* member) { return !member || member->address().empty(); });
}

}  // namespace

CorrectedPlans::CorrectedPlans(const PoolPart& part, const PlanRunner& runner,
                               const std::vector<Tensor>& inputs)
    : part_(part), runner_(runner), inputs_(inputs) {}

std::optional<Plan> CorrectedPlans::After(const ReadyPlan& ready) {
  if (made_.empty()) made_.push_back(ready.plan);
  if (!ready.deployed || !AreHere(part_.members) || made_.size() > size_t(kCorrections)) return std::nullopt;
  const Measured took = Measure(*ready.deployed, runner_, inputs_);
  // What all groups leave out is no part of the costs that the next times are compared with.
  const Graph& graph = runner_.graph();
  part_.costs = Corrected(part_.costs, PredictedWith(part_.costs, graph, ready.plan), took.groups);
  PoolPart in_all = part_;
  in_all.costs = CorrectedInAll(part_.costs, graph, ready.plan, took.us);
  Plan next = runner_.Make(ready.plan.planner, PoolObjective::kLatency, in_all).plan;
  if (OnlyProcessor(next) >= 0) return std::nullopt;
  const auto known =
      std::find_if(made_.begin(), made_.end(), [&](const Plan& other) { return SameWork(other, next); });
  if (known != made_.end()) {
    *known = std::move(next);
    return std::nullopt;
  }
  made_.push_back(next);
  return next;
}

Plan CorrectedPlans::WithLatestCosts(const Plan& plan) const {
  const auto known =
      std::find_if(made_.begin(), made_.end(), [&](const Plan& other) { return SameWork(other, plan); });
  return known == made_.end() ? plan : *known;
}

}  // namespace mete
