#include "run/plan_runner.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/free_memory.h"
#include "plan/pool/named.h"
#include "run/time_graph.h"

namespace mete {
namespace {

// runs of a plan that a planner measures; the median counts
constexpr int kMeasuredRuns = 3;
constexpr std::chrono::minutes kPatience{1};  // of one run. Guess: VGG-16 on the slowest board

}  // namespace

int OnlyProcessor(const Plan& plan) {
  const std::set<int> used = UsedProcessors(plan);
  return used.size() == 1 ? *used.begin() : -1;
}

bool SameWork(const Plan& a, const Plan& b) {
  if (OnlyProcessor(a) == 0 && OnlyProcessor(b) == 0) return true;  // all of it in the home's model
  const auto same = [](const PlannedGroup& x, const PlannedGroup& y) {
    return x.first == y.first && x.last == y.last && x.placement == y.placement;
  };
  return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(), same);
}

double MedianOf(std::vector<double> us) {
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

PlanRunner::PlanRunner(const Graph& graph, const HomeModel& home, const DeployOptions& options,
                       WeightsProgress progress, Teller& teller, const CancelToken& ending)
    : graph_(graph),
      home_(home),
      home_processor_{home.processor(),
                      [this](const Graph& share) {
                        CheckEnding();
                        return home_.processor().Prepare(share);
                      }},
      options_(options),
      progress_(std::move(progress)),
      teller_(teller),
      ending_(ending) {}

void PlanRunner::CheckEnding() const {
  if (ending_.cancelled()) throw Error(Code::kCancelled, "[processors] the session ends");
}

MadePlan PlanRunner::Make(const std::string& planner, PoolObjective objective, const PoolPart& part) const {
  const int64_t start_ns = NowNs();
  MadePlan made;
  made.plan = PlanPoolBy(
      planner, graph_, part.costs, [&](const Plan& plan) { return Measure(plan, part); }, &made.measured,
      objective);
  made.plan_s = double(NowNs() - start_ns) * 1e-9;
  return made;
}

std::shared_ptr<DeployedPlan> PlanRunner::DeployAnyway(const Plan& plan,
                                                       const std::vector<Member*>& members) const {
  std::vector<std::string> notes;
  ReturnFreeMemory();  // of the plan before, so that the memory of both is not there together
  auto deployed =
      std::make_shared<DeployedPlan>(graph_, plan, home_processor_, members, options_, progress_, &notes);
  ReturnFreeMemory();  // of compilers
  for (const std::string& note : notes) teller_.Tell(note);
  return deployed;
}

// A given plan may have other threads than the home has chosen.
bool PlanRunner::IsOfHomeModel(const Plan& plan) const {
  if (OnlyProcessor(plan) != 0) return false;
  const ThreadPlan* own = home_.thread_plan();
  return std::all_of(plan.groups.begin(), plan.groups.end(), [&](const PlannedGroup& group) {
    return std::all_of(group.shares.begin(), group.shares.end(), [&](const Share& share) {
      return !share.threads || (own && SameThreads(*share.threads, *own));
    });
  });
}

std::shared_ptr<DeployedPlan> PlanRunner::Deploy(const Plan& plan,
                                                 const std::vector<Member*>& members) const {
  return IsOfHomeModel(plan) ? nullptr : DeployAnyway(plan, members);
}

void PlanRunner::PutThreads(ReadyPlan& ready) const {
  if (ready.deployed) return ready.deployed->PutThreads(ready.plan);
  std::vector<PlannedGroup>& groups = ready.plan.groups;
  const ThreadPlan* own = home_.thread_plan();
  // The home's model is one share, also where the plan has several groups.
  if (own && groups.size() == 1 && groups[0].shares.size() == 1) groups[0].shares[0].threads = *own;
}

double PlanRunner::RunOnce(DeployedPlan* deployed, const std::vector<Tensor>& inputs) const {
  CheckEnding();
  const int64_t start_ns = NowNs();
  if (deployed) (void)deployed->Run(inputs, kPatience);
  else (void)home_.Try(inputs, ending_);
  return double(NowNs() - start_ns) * 1e-3;
}

// A plan of some of the layers is deployed even where it is all on the home, which has no model of them.
double PlanRunner::Measure(Plan plan, const PoolPart& part) const {
  NamePlan(plan, graph_, NamesOf(part.costs), "");  // planners leave that for the end
  const std::shared_ptr<DeployedPlan> deployed = DeployAnyway(plan, part.members);
  const std::vector<Tensor> inputs = MadeUpInputs(graph_, InputsOf(graph_, plan));
  std::vector<double> us;
  for (int run = -1; run < kMeasuredRuns; ++run)
    if (const double run_us = RunOnce(deployed.get(), inputs); run >= 0) us.push_back(run_us);
  return MedianOf(us);
}

}  // namespace mete
