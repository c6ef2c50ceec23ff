#include "plan/pool/named.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include <fmt/ranges.h>

#include "base/error.h"
#include "plan/pool/chip_planners.h"
#include "plan/pool/exhaustive.h"
#include "plan/pool/placements.h"
#include "plan/pool/plan_for.h"
#include "plan/pool/regression.h"
#include "plan/pool/segments.h"

namespace mete {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// the least ratio of a group's measured to its predicted time; this value is a guess: whole plans have ratios
// of 0.85 to 1.15
constexpr double kSurely = 0.7;

using Segments = std::vector<Segment>;

class NamedPlanner {
 public:
  NamedPlanner(const Graph& graph, const PoolCosts& pool, const MeasurePlan& measure)
      : model_(graph, pool), measure_(measure), together_(OneOfEachUnit(pool)) {
    for (int b = 0; b <= layers(); ++b)
      if (!model_.IsBeforeJoin(b)) ends_.push_back(b);
  }

  Plan Layerwise() {
    Segments segments;
    for (size_t i = 1; i < ends_.size(); ++i) AddGathered(segments, ends_[i - 1], ends_[i], Equal());
    return Build(segments);
  }

  Plan Uniform() {
    return Best(int(ends_.size()), [&](int i) {
      Segments segments;
      const int fused = ends_[size_t(i)];
      AddGathered(segments, 0, fused, Equal());
      if (fused < layers()) segments.push_back({fused, layers(), WholeOn(0)});
      return segments;
    });
  }

  Plan Neurosurgeon() {
    const int others = int(model_.pool().processors.size()) - 1, cuts = int(ends_.size());
    return Best(others > 0 ? others * cuts : 1, [&](int i) {
      Segments segments;
      const int cut = others > 0 ? ends_[size_t(i % cuts)] : layers(), processor = 1 + i / cuts;
      if (cut > 0) segments.push_back({0, cut, WholeOn(0)});
      if (cut < layers()) segments.push_back({cut, layers(), WholeOn(processor)});
      return segments;
    });
  }

  Plan Legion() {
    const auto predicted = [&](int begin, int end) { return BuildGathered(begin, end).predicted_us; };
    const Segments best = LeastSum(predicted), wild = Merged(best, predicted);
    Plan a = Build(best);
    if (wild.empty()) return a;
    Plan b = Build(wild);
    return Measure(b) < Measure(a) ? b : a;
  }

  Plan FullSearch() {
    return Build(LeastSum([&](int begin, int end) { return Measure(BuildGathered(begin, end)); }));
  }

  // Finds the plan of FullSearch() with fewer measurements.
  Plan PrunedSearch() {
    std::map<std::pair<int, int>, double> predicted_us, measured_us;
    double surely = kSurely;
    const auto at_least = [&](int begin, int end) {
      const std::pair group{begin, end};
      if (const auto known = measured_us.find(group); known != measured_us.end()) return known->second;
      const auto [predicted, unknown] = predicted_us.try_emplace(group, 0);
      if (unknown) predicted->second = BuildGathered(begin, end).predicted_us;
      return surely * predicted->second;
    };
    for (;;) {
      const Segments best = LeastSum(at_least);
      const size_t before = measured_us.size();
      for (const Segment& s : best) {
        if (s.begin == s.end || measured_us.contains({s.begin, s.end})) continue;
        const double us = measured_us[{s.begin, s.end}] = Measure(BuildGathered(s.begin, s.end));
        surely = std::min(surely, us / predicted_us[{s.begin, s.end}]);
      }
      if (measured_us.size() == before) return Build(best);
    }
  }

  int measured() const { return measured_; }

 private:
  int layers() const { return model_.boundaries(); }

  // Over all processors that compute together.
  Placement OverAll(std::vector<double> shares) const {
    return shares.size() == 1 ? WholeOn(0) : Placement{SplitAxis::kRows, together_, std::move(shares)};
  }
  Placement Equal() const {
    return OverAll(std::vector<double>(together_.size(), 1.0 / double(together_.size())));
  }
  Placement Proportional() const {
    return OverAll(SharesOf(model_.pool(), together_, 0, model_.pool().processors[0].layers.size()));
  }

  // The home computes a group that a processor lacks a layer of.
  void AddGathered(Segments& segments, int begin, int end, Placement placement) const {
    if (begin == end) return;
    const auto can = [&](int d) {
      return CanCompute(model_.pool().processors[size_t(d)], size_t(begin), size_t(end));
    };
    if (!std::all_of(placement.processors.begin(), placement.processors.end(), can)) placement = WholeOn(0);
    segments.push_back({begin, end, placement});
    if (placement.split != SplitAxis::kNone) segments.push_back({end, end, WholeOn(0)});
  }

  Plan Build(const Segments& segments) { return PlanOf(model_, segments); }

  Plan BuildGathered(int begin, int end) {
    Segments segments;
    AddGathered(segments, begin, end, Proportional());
    return Build(segments);
  }

  double Measure(const Plan& plan) {
    ++measured_;
    return measure_(plan);
  }

  // Returns the plan with the least predicted time of `count` plans.
  template <class F>
  Plan Best(int count, F segments_of) {
    Plan best;
    best.predicted_us = kNever;
    for (int i = 0; i < count; ++i)
      if (Plan plan = Build(segments_of(i)); plan.predicted_us < best.predicted_us) best = std::move(plan);
    return best;
  }

  // Returns the segmentation with the least sum of its groups' times.
  template <class F>
  Segments LeastSum(F group_us) {
    std::vector<double> least(size_t(layers()) + 1, kNever);
    std::vector<int> from(least.size(), 0);
    least[0] = 0;
    for (size_t i = 1; i < ends_.size(); ++i)
      for (size_t j = i; j-- > 0;) {
        const int begin = ends_[j], end = ends_[i];
        if (const double us = least[size_t(begin)] + group_us(begin, end); us < least[size_t(end)]) {
          least[size_t(end)] = us;
          from[size_t(end)] = begin;
        }
      }
    std::vector<int> ends;
    for (int end = layers(); end > 0; end = from[size_t(end)]) ends.push_back(end);
    Segments segments;
    for (size_t i = ends.size(); i-- > 0;)
      AddGathered(segments, from[size_t(ends[i])], ends[i], Proportional());
    return segments;
  }

  // Returns the segments with one pair of neighbouring groups merged: the pair that gains most, or loses
  // least. The result is empty if there is only one group.
  template <class F>
  Segments Merged(const Segments& segments, F group_us) {
    std::vector<std::pair<int, int>> groups;
    for (const Segment& s : segments)
      if (s.begin < s.end) groups.emplace_back(s.begin, s.end);
    if (groups.size() < 2) return {};
    const auto gain_us = [&](size_t i) {
      const auto &a = groups[i], &b = groups[i + 1];
      return group_us(a.first, a.second) + group_us(b.first, b.second) - group_us(a.first, b.second);
    };
    size_t best = 0;
    for (size_t i = 1; i + 1 < groups.size(); ++i)
      if (gain_us(i) > gain_us(best)) best = i;
    groups[best].second = groups[best + 1].second;
    groups.erase(groups.begin() + int(best) + 1);
    Segments merged;
    for (const auto& [begin, end] : groups) AddGathered(merged, begin, end, Proportional());
    return merged;
  }

  PoolModel model_;
  const MeasurePlan& measure_;
  const std::vector<int> together_;
  std::vector<int> ends_;  // where groups may begin and end: a join is with the layer before it
  int measured_ = 0;
};

// Chooses the cut by the regressions' times. The plan's predicted time is that of the regressions; the times
// of its shares are those of the pool.
Plan ByRegression(const Graph& graph, const PoolCosts& pool, const MeasurePlan& measure) {
  const PoolCosts estimates = RegressedCosts(graph, pool);
  const Plan chosen = NamedPlanner(graph, estimates, measure).Neurosurgeon();
  Plan plan = PredictedWith(pool, graph, chosen);
  plan.predicted_us = chosen.predicted_us;
  return plan;
}

// Plans by costs alone, as planners that measure nothing do; nothing for another name.
std::optional<Plan> ByCosts(const std::string& planner, const Graph& graph, const PoolCosts& pool) {
  if (planner == "layer-to-processor") return PlanLayerToProcessor(graph, pool);
  if (planner == "mulayer") return PlanMulayer(graph, pool);
  if (planner == "codl") return PlanCodl(graph, pool);
  if (planner == "exhaustive") return PlanExhaustively(graph, pool);
  return std::nullopt;
}

Plan OfOthers(const std::string& planner, NamedPlanner& named) {
  if (planner == "layerwise") return named.Layerwise();
  if (planner == "uniform") return named.Uniform();
  if (planner == "legion") return named.Legion();
  if (planner == "fss") return named.FullSearch();
  if (planner == "fss-pruned") return named.PrunedSearch();
  Invalid("planner", "unknown; got '{}', expected one of: {}", planner, fmt::join(PoolPlanners(), ", "));
}

// Leaves of the plans of processors that are the same hardware the fastest one.
void KeepOneOfEachUnit(const PoolCosts& pool, std::vector<Plan>& plans, std::vector<int>& processors) {
  std::map<int, size_t> fastest;  // by the first processor of the hardware, which of the plans
  for (size_t i = 0; i < plans.size(); ++i) {
    const auto [known, is_new] = fastest.try_emplace(FirstOfUnit(pool, processors[i]), i);
    if (!is_new && plans[i].predicted_us < plans[known->second].predicted_us) known->second = i;
  }
  std::vector<size_t> kept;
  for (const auto& [first, i] : fastest) kept.push_back(i);
  std::sort(kept.begin(), kept.end());
  std::vector<Plan> kept_plans;
  std::vector<int> kept_processors;
  for (const size_t i : kept) {
    kept_plans.push_back(std::move(plans[i]));
    kept_processors.push_back(processors[i]);
  }
  plans = std::move(kept_plans);
  processors = std::move(kept_processors);
}

}  // namespace

Plan PlanBestAlone(PoolObjective objective, const Graph& graph, const PoolCosts& pool) {
  if (objective == PoolObjective::kEnergy) CheckPower(pool);
  Plan best;
  for (int d = 0; d < int(pool.processors.size()); ++d) {
    Plan plan = PlanAlone(graph, pool, d);
    RatePlan(plan, graph, pool);
    if (d == 0 || FigureOf(plan, objective) < FigureOf(best, objective)) best = std::move(plan);
  }
  return best;
}

InTurn PlanInTurn(const Graph& graph, const PoolCosts& pool) {
  const size_t count = pool.processors.size();
  InTurn turns;
  std::vector<int> processors;  // of the plans: those that can compute all
  for (size_t d = 0; d < count; ++d) {
    Plan plan = PlanAlone(graph, pool, int(d));
    if (std::isinf(plan.predicted_us)) continue;
    processors.push_back(int(d));
    turns.plans.push_back(std::move(plan));
  }
  KeepOneOfEachUnit(pool, turns.plans, processors);
  double requests_per_us = 0;
  for (const Plan& plan : turns.plans) requests_per_us += 1 / std::max(1e-3, plan.predicted_us);
  std::vector<ProcessorLoad> loads(count);
  for (size_t i = 0; i < processors.size(); ++i) {
    const int d = processors[i];
    // the part of all requests that the processor gets
    const double part = 1 / std::max(1e-3, turns.plans[i].predicted_us) / requests_per_us;
    const std::vector<ProcessorLoad> own = LoadsOf(graph, turns.plans[i], pool);
    loads[size_t(d)].compute_us = part * SlowedBy(pool, processors, d) * own[size_t(d)].compute_us;
    for (size_t e = 0; e < count; ++e)
      for (size_t kind = 0; kind < kLinkKinds; ++kind) {
        loads[e].links[kind].up_us += part * own[e].links[kind].up_us;
        loads[e].links[kind].down_us += part * own[e].links[kind].down_us;
      }
  }
  turns.period_us = PeriodUs(pool, loads);
  return turns;
}

const std::vector<std::string>& PoolPlanners() {
  static const std::vector<std::string> names{"alone",
                                              "layerwise",
                                              "uniform",
                                              "neurosurgeon",
                                              "legion",
                                              "fss",
                                              "fss-pruned",
                                              "network-to-processor",
                                              "layer-to-processor",
                                              "mulayer",
                                              "codl",
                                              "exhaustive",
                                              "dynamic"};
  return names;
}

bool PlansFor(const std::string& planner, const std::string& objective) {
  return planner == "dynamic" || planner == "alone" || planner == "network-to-processor" ||
         objective == "latency";
}

Plan PlanPoolBy(const std::string& planner, const Graph& graph, const PoolCosts& pool,
                const MeasurePlan& measure, int* measured, PoolObjective objective) {
  if (measured) *measured = 0;
  if (planner == "dynamic") return PlanPoolFor(objective, graph, pool);
  if (planner == "alone" || planner == "network-to-processor") {
    Plan plan = PlanBestAlone(objective, graph, pool);
    plan.planner = planner;
    return plan;
  }
  NamedPlanner named(graph, pool, measure);
  std::optional<Plan> by_costs = ByCosts(planner, graph, pool);
  Plan plan = by_costs                    ? std::move(*by_costs)
              : planner == "neurosurgeon" ? ByRegression(graph, pool, measure)
                                          : OfOthers(planner, named);
  if (measured) *measured = named.measured();
  NamePlan(plan, graph, NamesOf(pool), planner);
  RatePlan(plan, graph, pool);
  return plan;
}

}  // namespace mete
