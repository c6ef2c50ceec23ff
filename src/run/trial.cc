// Plans that are run before one of them is used: because a planner wants to see them measured, or because
// predictions may err.
#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "run/pool_session.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/named.h"
#include "run/time_graph.h"

namespace mete {
namespace {

// of a plan that a planner wants to see measured; the median counts
constexpr int kMeasuredRuns = 3;
// of plans that run in turns; guess: a median that a disturbance or two do not move
constexpr int kRounds = 7;
// processors that are tried alone, the best by prediction; guess
constexpr int kSingles = 2;
constexpr std::chrono::minutes kTrialPatience{1};  // guess: VGG-16 on the slowest board

double MedianOf(std::vector<double> us) {
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

// The processor that has all of it; -1 where several have.
int OnlyProcessor(const Plan& plan) {
  int only = plan.groups.front().shares.front().processor;
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares)
      if (share.processor != only) return -1;
  return only;
}

// Whether the processors do the same for both, whoever planned it.
bool SameWork(const Plan& a, const Plan& b) {
  if (OnlyProcessor(a) == 0 && OnlyProcessor(b) == 0)
    return true;  // all of it in the session of this processor
  const auto same = [](const PlannedGroup& x, const PlannedGroup& y) {
    return x.first == y.first && x.last == y.last && x.placement == y.placement;
  };
  return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(), same);
}

}  // namespace

std::shared_ptr<DeployedPlan> PoolSession::DeployPlan(const Plan& plan, const std::vector<Member*>& members) {
  if (OnlyProcessor(plan) == 0) return nullptr;
  std::vector<std::string> notes;
  auto deployed =
      std::make_shared<DeployedPlan>(graph_, plan, own_, members, options_.deploy, options_.progress, &notes);
  for (const std::string& note : notes) Tell(note);
  return deployed;
}

double PoolSession::RunOnce(DeployedPlan* deployed, const std::vector<Tensor>& inputs) {
  CheckEnding();
  const int64_t start_ns = NowNs();
  if (deployed) (void)deployed->Run(inputs, kTrialPatience);
  else (void)alone_->Run(inputs, {.cancel = &ending_});
  return double(NowNs() - start_ns) * 1e-3;
}

// A plan of some of the layers is deployed even where it is all on this processor.
double PoolSession::MeasurePlan(Plan plan, const PoolCosts& costs, const std::vector<Member*>& members) {
  NamePlan(plan, graph_, NamesOf(costs), "");  // planners leave that for the end
  std::vector<std::string> notes;
  DeployedPlan deployed(graph_, plan, own_, members, options_.deploy, options_.progress, &notes);
  const std::vector<Tensor> inputs = MadeUpInputs(graph_, InputsOf(graph_, plan));
  std::vector<double> us;
  for (int run = -1; run < kMeasuredRuns; ++run)
    if (const double run_us = RunOnce(&deployed, inputs); run >= 0) us.push_back(run_us);
  return MedianOf(us);
}

ComparedPlan PoolSession::MakePlan(const std::string& planner, const PoolCosts& costs,
                                   const std::vector<Member*>& members) {
  const int64_t start_ns = NowNs();
  ComparedPlan made{planner, {}, 0, 0, {}};
  made.plan = PlanPoolBy(
      planner, graph_, costs, [&](const Plan& p) { return MeasurePlan(p, costs, members); }, &made.measured,
      options_.objective);
  made.plan_s = double(NowNs() - start_ns) * 1e-9;
  return made;
}

ComparedPlan PoolSession::MakeOwnPlan(const PoolCosts& costs, const std::vector<Member*>& members) {
  if (options_.plan && members.size() == pool_.size())
    return {options_.plan->planner, *options_.plan, 0, 0, {}};
  return MakePlan(options_.planner, costs, members);
}

std::vector<ComparedPlan> PoolSession::Compare(const std::vector<std::string>& planners,
                                               const std::vector<Tensor>& inputs, int rounds) {
  std::lock_guard keeping(keeping_);
  std::vector<size_t> members;
  std::vector<ComparedPlan> compared;
  std::vector<std::shared_ptr<DeployedPlan>> deployed;
  PoolCosts costs;
  {
    std::lock_guard lock(mutex_);
    members = planned_;
    costs = CostsOf(members);
    compared.push_back({"chosen", plan_, stats_.plan_s, stats_.measured, {}});
    deployed.push_back(deployed_);
  }
  std::vector<Member*> planned;
  for (const size_t d : members) planned.push_back(pool_[d].get());
  for (size_t d = 0; d < members.size(); ++d)
    compared.push_back({"alone " + costs.processors[d].name, PlanAlone(graph_, costs, int(d)), 0, 0, {}});
  for (const std::string& planner : planners) compared.push_back(MakePlan(planner, costs, planned));
  for (size_t i = 1; i < compared.size(); ++i) {
    ComparedPlan& c = compared[i];
    c.same_as = size_t(std::find_if(compared.begin(), compared.end(),
                                    [&](const ComparedPlan& o) { return SameWork(o.plan, c.plan); }) -
                       compared.begin());
    deployed.push_back(c.same_as < i ? deployed[c.same_as] : DeployPlan(c.plan, planned));
  }
  for (int round = -1; round < rounds; ++round)
    for (size_t k = 0; k < compared.size(); ++k) {
      const size_t i = (k + size_t(round + 1)) % compared.size();  // whoever comes first finds other caches
      if (compared[i].same_as < i) continue;
      // finds what others left in the caches, and cores that have slept
      (void)RunOnce(deployed[i].get(), inputs);
      if (const double us = RunOnce(deployed[i].get(), inputs); round >= 0) compared[i].us.push_back(us);
    }
  for (ComparedPlan& c : compared)
    if (c.us.empty()) c.us = compared[c.same_as].us;
  return compared;
}

std::vector<Plan> PoolSession::SinglesBeside(const Plan& plan, const PoolCosts& costs) const {
  std::vector<Plan> singles;
  for (size_t d = 0; d < costs.processors.size(); ++d)
    if (OnlyProcessor(plan) != int(d)) {
      singles.push_back(PlanAlone(graph_, costs, int(d)));
      RatePlan(singles.back(), graph_, costs);
    }
  std::sort(singles.begin(), singles.end(),
            [](const Plan& a, const Plan& b) { return a.predicted_us < b.predicted_us; });
  if (singles.size() > size_t(kSingles)) singles.resize(size_t(kSingles));
  return singles;
}

// The plan, and the single processors that it is tried beside, if it is; but for those that have no room for
// the whole model.
std::vector<PoolSession::ReadyPlan> PoolSession::DeployBeside(const Plan& plan, const PoolCosts& costs,
                                                              const std::vector<Member*>& members) {
  std::vector<ReadyPlan> ready{{plan, DeployPlan(plan, members)}};
  const bool latency = options_.objective == PoolObjective::kLatency;
  if (!options_.trial || !latency || plan.planner != "dynamic" || OnlyProcessor(plan) == 0) return ready;
  for (Plan& single : SinglesBeside(plan, costs)) {
    try {
      auto deployed = DeployPlan(single, members);
      ready.push_back({std::move(single), std::move(deployed)});
    } catch (const ProcessorError& error) {
      if (!IsRefusal(error.code())) throw;
    }
  }
  return ready;
}

PoolSession::ReadyPlan PoolSession::Best(const Plan& plan, const PoolCosts& costs,
                                         const std::vector<Member*>& members) {
  std::vector<ReadyPlan> ready = DeployBeside(plan, costs, members);
  if (ready.size() == 1) return std::move(ready[0]);
  const std::vector<Tensor> inputs = MadeUpInputs(graph_, InputsOf(graph_, plan));
  std::vector<std::vector<double>> us(ready.size());
  for (int round = -1; round < kRounds; ++round)
    for (size_t i = 0; i < ready.size(); ++i)
      if (const double run_us = RunOnce(ready[i].deployed.get(), inputs); round >= 0) us[i].push_back(run_us);
  for (size_t i = 0; i < ready.size(); ++i) ready[i].usual_us = MedianOf(us[i]);
  const auto best = std::min_element(ready.begin(), ready.end(), [](const ReadyPlan& a, const ReadyPlan& b) {
    return a.usual_us < b.usual_us;
  });
  {
    std::lock_guard lock(mutex_);
    stats_.measured += int(ready.size());
  }
  if (best != ready.begin())
    Tell(fmt::format(
        "one processor is faster than the plan: {:.1f} instead of {:.1f} ms as measured, {:.1f} and "
        "{:.1f} predicted",
        best->usual_us * 1e-3, ready[0].usual_us * 1e-3, best->plan.predicted_us * 1e-3,
        plan.predicted_us * 1e-3));
  return std::move(*best);
}

}  // namespace mete
