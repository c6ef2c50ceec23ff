#include "run/trial.h"

#include <algorithm>

#include "base/error.h"
#include "plan/pool/dynamic.h"
#include "run/corrected_plans.h"
#include "run/time_graph.h"
#include "run/turns.h"

namespace mete {
namespace {

// processors that are tried alone, the best by prediction; guess
constexpr int kSingles = 2;

std::vector<Plan> SinglesBeside(const Plan& plan, const Graph& graph, const PoolCosts& costs) {
  std::vector<Plan> singles;
  for (size_t d = 0; d < costs.processors.size(); ++d)
    if (OnlyProcessor(plan) != int(d)) {
      singles.push_back(PlanAlone(graph, costs, int(d)));
      RatePlan(singles.back(), graph, costs);
    }
  std::sort(singles.begin(), singles.end(),
            [](const Plan& a, const Plan& b) { return a.predicted_us < b.predicted_us; });
  if (singles.size() > size_t(kSingles)) singles.resize(size_t(kSingles));
  return singles;
}

std::vector<ReadyPlan> DeploySinglesBeside(const Plan& plan, const PoolPart& part, const PlanRunner& runner) {
  std::vector<ReadyPlan> ready;
  for (Plan& single : SinglesBeside(plan, runner.graph(), part.costs)) {
    try {
      auto deployed = runner.Deploy(single, part.members);
      ready.push_back({std::move(single), std::move(deployed)});
    } catch (const ProcessorError& error) {
      if (!IsRefusal(error.code())) throw;
    }
  }
  return ready;
}

}  // namespace

Trial TryBesideSingles(const Plan& plan, const PoolPart& part, const PlanRunner& runner) {
  ReadyPlan planned{plan, runner.Deploy(plan, part.members)};
  std::vector<ReadyPlan> singles = DeploySinglesBeside(plan, part, runner);
  if (singles.empty()) return {std::move(planned), 0, ""};
  const std::vector<Tensor> inputs = MadeUpInputs(runner.graph(), InputsOf(runner.graph(), plan));
  std::vector<ReadyPlan> ready = CorrectedPlans(std::move(planned), part, runner, inputs);
  const size_t divided = ready.size();
  std::move(singles.begin(), singles.end(), std::back_inserter(ready));
  const std::vector<double> us =
      MediansInTurns(ready.size(), [&](size_t i) { return runner.RunOnce(ready[i].deployed.get(), inputs); });
  for (size_t i = 0; i < ready.size(); ++i) ready[i].usual_us = us[i];
  const auto best = std::min_element(ready.begin(), ready.end(), [](const ReadyPlan& a, const ReadyPlan& b) {
    return a.usual_us < b.usual_us;
  });
  Trial trial;
  trial.measured = int(ready.size());
  if (size_t(best - ready.begin()) >= divided)
    trial.note = fmt::format(
        "one processor is faster than the plan: {:.1f} instead of {:.1f} ms as measured, {:.1f} and "
        "{:.1f} predicted",
        best->usual_us * 1e-3, ready[0].usual_us * 1e-3, best->plan.predicted_us * 1e-3,
        plan.predicted_us * 1e-3);
  trial.best = std::move(*best);
  return trial;
}

}  // namespace mete
