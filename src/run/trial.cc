#include "run/trial.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "plan/pool/dynamic.h"
#include "run/corrected_plans.h"
#include "run/time_graph.h"
#include "run/turns.h"

namespace mete {
namespace {

// processors that are tried alone, the best by prediction; guess
constexpr int kSingles = 2;

// How many times as long as the best plan a single processor is predicted to take that is not tried. 90 to 97
// % of single layers were measured again within 10 % of their profile (docs/results/chip-measured.md); the
// rest of this margin is a guess.
constexpr double kHopeless = 1.5;

std::vector<Plan> SinglesBeside(const Plan& plan, const Graph& graph, const PoolCosts& costs) {
  std::vector<Plan> singles;
  for (size_t d = 0; d < costs.processors.size(); ++d)
    if (OnlyProcessor(plan) != int(d)) {
      singles.push_back(PlanAlone(graph, costs, int(d)));
      RatePlan(singles.back(), graph, costs);
      if (std::isinf(singles.back().predicted_us)) singles.pop_back();  // it lacks a layer
    }
  std::sort(singles.begin(), singles.end(),
            [](const Plan& a, const Plan& b) { return a.predicted_us < b.predicted_us; });
  if (singles.size() > size_t(kSingles)) singles.resize(size_t(kSingles));
  // The home is ready, and its trial shows what the plan takes, before others are made ready.
  std::stable_partition(singles.begin(), singles.end(),
                        [](const Plan& single) { return OnlyProcessor(single) == 0; });
  return singles;
}

// Keeps the fastest of the plans that were tried, of which at most two are deployed at a time.
class Contest {
 public:
  Contest(ReadyPlan first, const PlanRunner& runner, const std::vector<Tensor>& inputs)
      : runner_(runner), inputs_(inputs), best_(std::move(first)) {}

  // Runs the plan in turns with the best one. Returns true if it is faster, and then the best one.
  bool Try(ReadyPlan challenger) {
    ReadyPlan* const both[] = {&best_, &challenger};
    const std::vector<double> us =
        MediansInTurns(2, [&](size_t i) { return runner_.RunOnce(both[i]->deployed.get(), inputs_); });
    for (size_t i = 0; i < 2; ++i) both[i]->usual_us = us[i];
    ++measured_;
    if (us[1] >= us[0]) return false;
    beaten_us_ = us[0];
    best_ = std::move(challenger);
    return true;
  }

  ReadyPlan& best() { return best_; }
  int measured() const { return measured_; }       // plans that were run
  double beaten_us() const { return beaten_us_; }  // of a request by the former best plan, beside this one

 private:
  const PlanRunner& runner_;
  const std::vector<Tensor>& inputs_;
  ReadyPlan best_;
  int measured_ = 1;
  double beaten_us_ = 0;
};

// Tries the plans that follow from what the best plan, and each of them, took. Returns the latest costs.
PoolCosts TryCorrected(Contest& contest, const PoolPart& part, const PlanRunner& runner,
                       const std::vector<Tensor>& inputs) {
  CorrectedPlans corrected(part, runner, inputs);
  std::optional<Plan> next = corrected.After(contest.best());
  while (next) {
    ReadyPlan ready{*next, runner.Deploy(*next, part.members)};
    next = corrected.After(ready);
    (void)contest.Try(std::move(ready));
  }
  contest.best().plan = corrected.WithLatestCosts(contest.best().plan);
  return corrected.costs();
}

// The first single processor that was faster than the plan, with both times of the same turns.
struct Victory {
  double us = 0, predicted_us = 0;  // of the single processor
  double beaten_us = 0;             // of the plan
};

// Tries plans that use one processor each.
std::optional<Victory> TrySingles(Contest& contest, const PoolPart& part, const PlanRunner& runner,
                                  std::vector<Plan> singles) {
  std::optional<Victory> first;
  for (Plan& single : singles) {
    const bool is_ready = OnlyProcessor(single) == 0;  // the home's model
    if (!is_ready && !IsWorthATrial(single, contest.best())) continue;
    try {
      auto deployed = runner.Deploy(single, part.members);
      const bool wins = contest.Try({std::move(single), std::move(deployed)});
      if (wins && !first)
        first = {contest.best().usual_us, contest.best().plan.predicted_us, contest.beaten_us()};
    } catch (const ProcessorError& error) {
      if (!IsRefusal(error.code())) throw;
    }
  }
  return first;
}

}  // namespace

// A common factor of all times, as where the profile is of a busy machine, is in both predictions.
bool IsWorthATrial(const Plan& single, const ReadyPlan& best) {
  return best.usual_us == 0 ||
         single.predicted_us <= kHopeless * std::max(best.usual_us, best.plan.predicted_us);
}

PlanTrial TryBesideSingles(const Plan& plan, const PoolPart& part, const PlanRunner& runner) {
  ReadyPlan planned{plan, runner.Deploy(plan, part.members)};
  if (SinglesBeside(plan, runner.graph(), part.costs).empty()) return {std::move(planned), 0, ""};
  const std::vector<Tensor> inputs = MadeUpInputs(runner.graph(), InputsOf(runner.graph(), plan));
  Contest contest(std::move(planned), runner, inputs);
  const PoolCosts costs = TryCorrected(contest, part, runner, inputs);
  const double planned_us = contest.best().plan.predicted_us;
  const std::optional<Victory> victory =
      TrySingles(contest, part, runner, SinglesBeside(plan, runner.graph(), costs));
  PlanTrial trial{std::move(contest.best()), contest.measured(), ""};
  if (victory)
    trial.note = fmt::format(
        "one processor is faster than the plan: {:.1f} instead of {:.1f} ms as measured, {:.1f} and "
        "{:.1f} predicted",
        victory->us * 1e-3, victory->beaten_us * 1e-3, victory->predicted_us * 1e-3, planned_us * 1e-3);
  return trial;
}

}  // namespace mete
