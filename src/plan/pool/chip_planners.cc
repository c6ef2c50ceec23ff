#include "plan/pool/chip_planners.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "plan/pool/branches.h"
#include "plan/pool/grid.h"
#include "plan/pool/regression.h"
#include "plan/pool/segments.h"

namespace mete {
namespace {

// CoDL's sources bound the length of its chains (chip.md).
constexpr int kMostOfAChain = 30;

// Infinite if the processor lacks a layer.
double LayersUs(const ProcessorCosts& processor, int begin, int end) {
  if (!CanCompute(processor, size_t(begin), size_t(end))) return std::numeric_limits<double>::infinity();
  double us = 0;
  for (int l = begin; l < end; ++l) us += processor.layers[size_t(l)].us;
  return us;
}

// Returns the fastest processor of other hardware than the home; 0 if there is none.
int FastestOther(const PoolCosts& pool) {
  int fastest = 0;
  for (int d = 1; d < int(pool.processors.size()); ++d)
    if (FirstOfUnit(pool, d) != 0 && (fastest == 0 || UsWithHome(pool, d) < UsWithHome(pool, fastest)))
      fastest = d;
  return fastest;
}

// What the planners have in common: a model on the home and another processor, and where groups may begin and
// end (a join is with the layer before it).
class ChipPlanner {
 public:
  ChipPlanner(const Graph& graph, const PoolCosts& pool) : model_(graph, pool), other_(FastestOther(pool)) {
    for (int b = 0; b <= model_.boundaries(); ++b)
      if (!model_.IsBeforeJoin(b)) ends_.push_back(b);
  }

 protected:
  double Us(int processor, int begin, int end) const {
    return LayersUs(model_.pool().processors[size_t(processor)], begin, end);
  }

  PoolModel model_;
  const int other_;
  std::vector<int> ends_;
};

class LayerToProcessor : ChipPlanner {
 public:
  using ChipPlanner::ChipPlanner;

  Plan Do() {
    std::vector<Segment> segments;
    for (size_t i = 1; i < ends_.size(); ++i) {
      const int begin = ends_[i - 1], end = ends_[i];
      const Placement placement = WholeOn(Us(other_, begin, end) < Us(0, begin, end) ? other_ : 0);
      if (!segments.empty() && segments.back().placement == placement) segments.back().end = end;
      else segments.push_back({begin, end, placement});
    }
    return PlanOf(model_, segments);
  }
};

class Mulayer : ChipPlanner {
 public:
  using ChipPlanner::ChipPlanner;

  Plan Do() {
    std::vector<Segment> segments;
    for (int begin = 0; begin < model_.boundaries();) {
      segments.push_back(From(begin));
      begin = segments.back().end;
    }
    return PlanOf(model_, segments);
  }

 private:
  Segment From(int begin) {
    int end = begin + 1;
    if (other_ == 0) return {begin, model_.boundaries(), WholeOn(0)};
    if (const std::optional<Segment> branches = BranchesFrom(begin)) return *branches;
    // a join that no branches come to is with the layer before it
    while (model_.IsBeforeJoin(end)) ++end;
    if (!std::isfinite(Us(other_, begin, end))) return {begin, end, WholeOn(0)};
    const double a = std::max(1e-3, Us(0, begin, end)), b = std::max(1e-3, Us(other_, begin, end));
    return {begin, end, {SplitAxis::kChannels, {0, other_}, {b / (a + b), a / (a + b)}}};
  }

  // Returns the group from a fork to the join of its branches, if that is predicted to be worth it.
  std::optional<Segment> BranchesFrom(int begin) {
    if (model_.Live(begin).size() != 1) return std::nullopt;
    int end = begin + 1;
    while (end < model_.boundaries() && !model_.IsBeforeJoin(end) && model_.Live(end).size() > 1) ++end;
    if (!model_.IsBeforeJoin(end)) return std::nullopt;
    const double alone_us = std::min(Us(0, begin, end), Us(other_, begin, end));
    std::optional<Segment> best;
    double best_us = alone_us;
    for (const Placement& placement : BranchPlacements(model_, end)) {
      if (placement.processors != std::vector{0, other_}) continue;
      GroupCosts group(model_, end, placement);
      while (group.begin() > begin) group.Prepend();
      if (group.computing() < 2 || group.compute_us() >= best_us) continue;
      best_us = group.compute_us();
      best = Segment{begin, end, placement};
    }
    return best;
  }
};

class Codl : ChipPlanner {
 public:
  using ChipPlanner::ChipPlanner;

  Plan Do() {
    std::vector<Segment> segments;
    for (size_t at = 0; at + 1 < ends_.size();) {
      size_t end = at + 1;
      Choice chain = BestOf(ends_[at], ends_[end], {SplitAxis::kRows, SplitAxis::kChannels});
      for (; end + 1 < ends_.size() && ends_[end + 1] - ends_[at] <= kMostOfAChain; ++end) {
        const Choice longer = BestOf(ends_[at], ends_[end + 1], {SplitAxis::kRows});
        const Choice next = BestOf(ends_[end], ends_[end + 1], {SplitAxis::kRows, SplitAxis::kChannels});
        if (longer.us >= chain.us + next.us) break;
        chain = longer;
      }
      segments.push_back({ends_[at], ends_[end], chain.placement});
      at = end;
    }
    return PlanOf(model_, segments);
  }

 private:
  struct Choice {
    double us = std::numeric_limits<double>::infinity();
    Placement placement;
  };

  Choice BestOf(int begin, int end, const std::vector<SplitAxis>& axes) {
    Choice best;
    const auto weigh = [&](const Placement& placement) {
      if (const double us = ChainUs(begin, end, placement); us < best.us) best = {us, placement};
    };
    weigh(WholeOn(0));
    if (other_ == 0) return best;
    weigh(WholeOn(other_));
    for (const SplitAxis axis : axes)
      for (const Placement& placement : GridOf(axis, {0, other_})) weigh(placement);
    return best;
  }

  double ChainUs(int begin, int end, const Placement& placement) {
    GroupCosts group(model_, end, placement);
    std::vector<double> before(placement.processors.size(), 0);
    double us = 0;
    while (group.begin() > begin) {
      group.Prepend();
      if (!group.possible()) return std::numeric_limits<double>::infinity();
      double slowest_us = 0;
      for (size_t k = 0; k < before.size(); ++k) {
        slowest_us = std::max(slowest_us, group.compute_us(k) - before[k]);
        before[k] = group.compute_us(k);
      }
      us += slowest_us;
    }
    const Exchange& inputs = group.Sent(HoldingsOf(model_, begin, WholeOn(0)));
    return us + std::max(inputs.ReadyUs(0), inputs.ReadyUs(other_)) + ToHomeUs(end, placement);
  }

  double ToHomeUs(int end, const Placement& placement) {
    Exchange exchange(model_.pool());
    const Holdings held = HoldingsOf(model_, end, placement);
    for (size_t v = 0; v < held.size(); ++v)
      exchange.Need(0, model_.graph().value(model_.Live(end)[v]), Part::All(), held[v]);
    return exchange.ReadyUs(0);
  }
};

}  // namespace

Plan PlanLayerToProcessor(const Graph& graph, const PoolCosts& pool) {
  return LayerToProcessor(graph, pool).Do();
}

Plan PlanMulayer(const Graph& graph, const PoolCosts& pool) {
  const Plan chosen = Mulayer(graph, FlopsLinearCosts(graph, pool)).Do();
  Plan plan = PredictedWith(pool, graph, chosen);
  plan.predicted_us = chosen.predicted_us;
  return plan;
}

Plan PlanCodl(const Graph& graph, const PoolCosts& pool) { return Codl(graph, pool).Do(); }

}  // namespace mete
