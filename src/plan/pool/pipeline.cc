#include "plan/pool/pipeline.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "plan/pool/dynamic.h"
#include "plan/pool/group_costs.h"
#include "plan/pool/named.h"
#include "plan/pool/objective.h"
#include "plan/pool/segments.h"
#include "plan/pool/stages.h"

namespace mete {
namespace {

constexpr int kInputs = -1;      // a stage number for the inputs: the caller has all values
constexpr double kSlack = 1e-9;  // periods within this ratio are equal, because sums differ by rounding
// The search tries growing upper bounds of the period: the first is kFirstBound of the first known period,
// and each next bound is kNextBound times larger. The work for a bound depends on the number of pipelines
// below it, so that a bound that is too low takes almost no time. The values were found with 64 processors,
// where the shortest period was 0.25 to 1 of the first; for other pools they are guesses.
constexpr double kFirstBound = 0.125, kNextBound = 1.2;

// The loads of the stages so far.
struct Loads {
  double bottleneck_us = 0, caller_up_us = 0, caller_down_us = 0;

  double worst_us() const { return std::max({bottleneck_us, caller_up_us, caller_down_us}); }
  bool NoWorseThan(const Loads& o) const {
    return bottleneck_us <= o.bottleneck_us && caller_up_us <= o.caller_up_us &&
           caller_down_us <= o.caller_down_us;
  }
  Loads With(const Loads& more) const {
    return {std::max(bottleneck_us, more.bottleneck_us), caller_up_us + more.caller_up_us,
            caller_down_us + more.caller_down_us};
  }
};

// The first stages of a pipeline.
struct Label {
  Loads loads;
  int stage = kInputs;  // the last stage
  TeamCounts taken;     // teams that the stages use, the last one included
  int boundary = 0;     // the boundary where the last stage begins
  const Label* before = nullptr;
};

class PipelinePlanner {
 public:
  PipelinePlanner(PoolModel& model, double below_us)
      : model_(model),
        kinds_(KindsOf(model.pool())),
        stages_(StagesOf(model.pool(), kinds_)),
        below_us_(below_us),
        none_(kinds_.size(), 0) {
    for (const Stage& stage : stages_) first_.push_back(PlacementOf(stage, none_, kinds_, model.pool()));
  }

  // Searches first among pipelines of undivided stages only. Then it searches among all pipelines with a
  // period below a growing bound: the shortest pipeline below a bound is the shortest of all, and a low bound
  // excludes nearly all others.
  Plan Do() {
    Look([](const Stage& s) { return s.split == SplitAxis::kNone; });
    const double known_us = below_us_;
    const Label* whole = best_;
    for (double us = known_us * kFirstBound; best_ == whole; us *= kNextBound) {
      below_us_ = std::min(us, known_us);
      Look([](const Stage&) { return true; });
      if (us >= known_us) break;
    }
    return Describe();
  }

 private:
  using Labels = std::map<TeamCounts, std::vector<Label*>>;  // by the teams taken

  void Look(const std::function<bool(const Stage&)>& allowed) {
    states_.assign(size_t(model_.boundaries()) + 1, std::map<int, Labels>());
    states_[0][kInputs][none_].push_back(&made_.emplace_back(Label{{}, kInputs, none_, 0, nullptr}));
    for (int end = 1; end <= model_.boundaries(); ++end)
      for (int s = 0; s < int(stages_.size()); ++s)
        if (allowed(stages_[size_t(s)])) Extend(end, s);
    for (const auto& [stage, labels] : states_.back()) Finish(stage, labels);
  }

  bool TooLong(double us) const { return us >= below_us_ * (1 - kSlack); }

  // Extends the pipelines by all groups that end at this boundary on this stage's processors.
  void Extend(int end, int stage) {
    GroupCosts group(model_, end, first_[size_t(stage)]);
    while (group.begin() > 0) {
      group.Prepend();
      if (TooLong(group.compute_us())) return;  // longer groups take even more time
      for (const auto& [before, labels] : states_[size_t(group.begin())]) {
        if (!Fit(before, stage) || TooLong(LeastSendingUs(group, stage, before))) continue;
        const Loads step = StepLoads(group, stage, before);
        if (TooLong(step.worst_us())) continue;
        for (const auto& [taken, list] : labels) Take(taken, list, step, end, stage, group.begin());
      }
    }
  }

  // Returns a lower bound of the busiest link's load in a fraction of the time of StepLoads(): the processors
  // of the stage have none of the parts that they need, because another stage has them.
  double LeastSendingUs(const GroupCosts& group, int stage, int before) const {
    if (before == kInputs) return 0;
    double down_us = 0, up_mbit_per_s = 0;
    int64_t bytes = 0;
    const std::vector<int>& processors = first_[size_t(stage)].processors;
    for (size_t k = 0; k < processors.size(); ++k) {
      bytes += group.need_bytes(k);
      down_us = std::max(down_us, TransferUs(group.need_bytes(k), LinkOf(processors[k]).down_mbit_per_s));
    }
    // processors of one kind have the same rate
    for (int processor : first_[size_t(before)].processors) up_mbit_per_s += LinkOf(processor).up_mbit_per_s;
    return std::max(down_us, TransferUs(bytes, up_mbit_per_s));
  }
  LinkCosts LinkOf(int processor) const { return BestLinkOf(model_.pool().processors[size_t(processor)]); }

  void Take(const TeamCounts& taken, const std::vector<Label*>& list, const Loads& step, int end, int stage,
            int begin) {
    TeamCounts then = taken;
    for (size_t k = 0; k < kinds_.size(); ++k) then[k] += stages_[size_t(stage)].teams[k];
    if (!CanServe(then, kinds_, model_.pool())) return;
    std::vector<Label*>& labels = states_[size_t(end)][stage][then];
    for (const Label* before : list) Keep({before->loads.With(step), stage, then, begin, before}, labels);
  }

  void Keep(const Label& label, std::vector<Label*>& labels) {
    if (TooLong(label.loads.worst_us())) return;
    for (const Label* other : labels)
      if (other->loads.NoWorseThan(label.loads)) return;
    std::erase_if(labels, [&](const Label* other) { return label.loads.NoWorseThan(other->loads); });
    made_.push_back(label);
    labels.push_back(&made_.back());
  }

  bool Fit(int before, int stage) const {
    if (before == kInputs) return true;
    TeamCounts both = stages_[size_t(before)].teams;
    for (size_t k = 0; k < kinds_.size(); ++k) both[k] += stages_[size_t(stage)].teams[k];
    return CanServe(both, kinds_, model_.pool());
  }

  // Returns the placement of the values before `stage` if `stage` has the first processors of each kind, and
  // the stage before it the next ones.
  const Holdings& HeldBy(int before, int stage, int boundary) {
    const auto [at, is_new] = held_.try_emplace(std::tuple(boundary, before, stage));
    if (is_new) {
      const Placement placement =
          before == kInputs
              ? WholeOn(0)
              : PlacementOf(stages_[size_t(before)], stages_[size_t(stage)].teams, kinds_, model_.pool());
      at->second = HoldingsOf(model_, boundary, placement);
    }
    return at->second;
  }

  Loads StepLoads(GroupCosts& group, int stage, int before) {
    std::vector<ProcessorLoad> loads(model_.pool().processors.size());
    for (const Transfer& transfer : group.Sent(HeldBy(before, stage, group.begin())).All())
      AddLoad(transfer, model_.pool(), loads);
    const Placement& placement = first_[size_t(stage)];
    for (size_t k = 0; k < placement.processors.size(); ++k)
      loads[size_t(placement.processors[k])].compute_us = group.compute_us(k);
    return Summed(std::move(loads));
  }

  Loads Summed(std::vector<ProcessorLoad> loads) const {
    const LinkLoad caller = std::exchange(loads[0].link(LinkKind::kNetwork), {});
    return {PeriodUs(model_.pool(), loads), caller.up_us, caller.down_us};
  }

  void Finish(int stage, const Labels& labels) {
    std::vector<ProcessorLoad> loads(model_.pool().processors.size());
    const Placement from = stage == kInputs ? WholeOn(0) : first_[size_t(stage)];
    const Exchange gather = GatherOf(model_, HoldingsOf(model_, model_.boundaries(), from));
    for (const Transfer& transfer : gather.All()) AddLoad(transfer, model_.pool(), loads);
    const Loads step = Summed(std::move(loads));
    for (const auto& [taken, list] : labels)
      for (const Label* label : list)
        if (const double us = label->loads.With(step).worst_us(); !TooLong(us)) {
          below_us_ = us;
          best_ = label;
        }
  }

  Plan Describe() {
    std::vector<const Label*> labels;
    for (const Label* label = best_; label && label->before; label = label->before) labels.push_back(label);
    std::reverse(labels.begin(), labels.end());
    std::vector<Segment> segments;
    for (size_t i = 0; i < labels.size(); ++i) {
      const int end = i + 1 < labels.size() ? labels[i + 1]->boundary : model_.boundaries();
      segments.push_back(
          {labels[i]->boundary, end,
           PlacementOf(stages_[size_t(labels[i]->stage)], labels[i]->before->taken, kinds_, model_.pool())});
    }
    return PlanOf(model_, segments);
  }

  PoolModel& model_;
  const std::vector<ProcessorKind> kinds_;
  const std::vector<Stage> stages_;
  double below_us_;  // the search ignores pipelines with a longer period
  const TeamCounts none_;
  std::vector<Placement> first_;               // by stage: its placement on the first processors
  std::vector<std::map<int, Labels>> states_;  // by boundary and last stage
  std::deque<Label> made_;                     // owns all labels, at fixed addresses
  std::map<std::tuple<int, int, int>, Holdings> held_;
  const Label* best_ = nullptr;
};

}  // namespace

Plan PlanPipeline(const Graph& graph, const PoolCosts& pool, double below_us) {
  PoolModel model(graph, pool);
  Plan plan = PipelinePlanner(model, below_us).Do();
  NamePlan(plan, graph, NamesOf(pool), "dynamic");
  RatePlan(plan, graph, pool);
  return plan;
}

Plan PlanShortestPeriod(const Graph& graph, const PoolCosts& pool) {
  Plan best = PlanPool(graph, pool);
  RatePlan(best, graph, pool);
  const auto weigh = [&](Plan plan) {
    if (plan.period_us < best.period_us) best = std::move(plan);
  };
  weigh(PlanBestAlone(PoolObjective::kThroughput, graph, pool));
  if (Plan pipeline = PlanPipeline(graph, pool, best.period_us); !pipeline.groups.empty())
    weigh(std::move(pipeline));
  return best;
}

}  // namespace mete
