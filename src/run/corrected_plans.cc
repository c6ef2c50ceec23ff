#include "run/corrected_plans.h"

#include <algorithm>

#include "run/corrected_costs.h"

namespace mete {
namespace {

constexpr int kRuns = 7;         // of a plan, whose medians count; guess
constexpr int kCorrections = 3;  // guess: later ones change little

double MedianUs(const std::vector<GroupTimes>& runs, size_t processor, size_t group, double StageTimes::*of) {
  std::vector<double> us;
  for (const GroupTimes& times : runs)
    if (group < times[processor].size()) us.push_back(times[processor][group].*of);
  return MedianOf(std::move(us));
}

GroupTimes TimeGroups(DeployedPlan& deployed, const PlanRunner& runner, const std::vector<Tensor>& inputs) {
  std::vector<GroupTimes> runs;
  for (int run = -1; run < kRuns; ++run) {
    (void)runner.RunOnce(&deployed, inputs);
    if (run >= 0) runs.push_back(deployed.LastStages());
  }
  GroupTimes medians = runs.back();
  for (size_t p = 0; p < medians.size(); ++p)
    for (size_t g = 0; g < medians[p].size(); ++g)
      medians[p][g] = {MedianUs(runs, p, g, &StageTimes::wait_us),
                       MedianUs(runs, p, g, &StageTimes::compute_us)};
  return medians;
}

bool AreHere(const std::vector<Member*>& members) {
  return std::all_of(members.begin(), members.end(),
                     [](const Member* member) { return !member || member->address().empty(); });
}

}  // namespace

std::vector<ReadyPlan> CorrectedPlans(ReadyPlan plan, const PoolPart& part, const PlanRunner& runner,
                                      const std::vector<Tensor>& inputs) {
  std::vector<ReadyPlan> plans;
  plans.push_back(std::move(plan));
  PoolPart corrected = part;
  for (int i = 0; i < kCorrections && plans.back().deployed && AreHere(part.members); ++i) {
    const ReadyPlan& last = plans.back();
    corrected.costs =
        Corrected(std::move(corrected.costs), last.plan, TimeGroups(*last.deployed, runner, inputs));
    Plan next = runner.Make(last.plan.planner, PoolObjective::kLatency, corrected).plan;
    if (OnlyProcessor(next) >= 0) break;
    const auto known = std::find_if(plans.begin(), plans.end(),
                                    [&](const ReadyPlan& other) { return SameWork(other.plan, next); });
    if (known != plans.end()) {
      known->plan = std::move(next);
      break;
    }
    auto deployed = runner.Deploy(next, part.members);
    plans.push_back({std::move(next), std::move(deployed)});
  }
  return plans;
}

}  // namespace mete
