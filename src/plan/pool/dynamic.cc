#include "plan/pool/dynamic.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "plan/pool/branches.h"
#include "plan/pool/group_costs.h"
#include "plan/pool/placements.h"
#include "plan/pool/refine.h"
#include "plan/pool/segments.h"

namespace mete {
namespace {

// Plans count as equal within this factor, because sums differ by rounding; of equal plans the one with fewer
// groups is chosen.
constexpr double kAlike = 1 + 1e-9;
constexpr double kNever = std::numeric_limits<double>::infinity();

// The cheapest way to reach one placement of the values that are live at a boundary.
struct State {
  const Placement* placement = nullptr;  // one of those under which it lies so
  Holdings held;
  double price = kNever;  // price of all groups up to the boundary
  int boundary = -1;      // the boundary where the last group begins
  size_t before = 0;      // the state at that boundary
  double rest = kNever;   // least price of the groups after the boundary, as far as PricesWith() needs it
  // the processors that have a part here, as indices into the list given to PricesWith()
  std::vector<size_t> asked;
};

struct Boundary {
  std::vector<State> states;
  std::vector<size_t> cheapest;  // the states that can be reached, by ascending price
  LeastReady ready;              // bounds for the states
};

class DynamicPlanner {
 public:
  // `off`: by processor, whether it may have no part of anything; empty: each may.
  DynamicPlanner(PoolModel& model, const std::vector<Placement>& placements, const DynamicOptions& options,
                 std::vector<bool> off = {})
      : model_(model), placements_(placements), price_(options.price), off_(std::move(off)) {
    for (int b = 0; b <= model.boundaries(); ++b) branches_.push_back(BranchesAt(b, options.branches));
    for (int b = 0; b <= model.boundaries(); ++b) boundaries_.push_back(StatesAt(b));
    boundaries_[0].states[0].price = 0;
    for (int end = 1; end <= model.boundaries(); ++end) {
      Sort(boundaries_[size_t(end) - 1]);
      for (State& state : boundaries_[size_t(end)].states) FindPrice(end, state);
    }
    for (State& last : boundaries_.back().states) last.rest = GatherPrice(last.held);
  }

  Plan Best() const {
    Plan plan;
    const State* state = &Last();
    plan.predicted_us = plan.gather_us = GatherUs(model_, state->held);
    for (int end = model_.boundaries(); end > 0; end = state->boundary, state = &Before(*state)) {
      GroupCosts group(model_, end, *state->placement);
      while (group.begin() > state->boundary) group.Prepend();
      plan.groups.push_back(group.Describe(Before(*state).held));
      plan.predicted_us += plan.groups.back().us;
    }
    std::reverse(plan.groups.begin(), plan.groups.end());
    return plan;
  }

  // Returns for each processor the price of the cheapest plan in which it has a part of at least one group;
  // infinite if no placement has the processor. Such a plan goes through a state in which the processor has a
  // part: the price up to this state is known, and the price of the rest is computed backwards from the end.
  // States that cost more than the upper bound of the most expensive of these plans are skipped; these are
  // nearly all.
  std::vector<double> PricesWith(const std::vector<int>& processors) {
    if (processors.empty()) return {};
    with_.assign(processors.size(), -kNever);
    for (size_t b = 1; b < boundaries_.size(); ++b)
      for (size_t s = 0; s < boundaries_[b].states.size(); ++s)
        Ask(processors, boundaries_[b].ready.Holds(s), boundaries_[b].states[s]);
    dearest_ = *std::max_element(with_.begin(), with_.end());
    LeaveBestPlanOnce();
    for (int end = model_.boundaries(); end > 0; --end)
      for (const State& state : boundaries_[size_t(end)].states) {
        if (state.price + state.rest > dearest_ * kAlike) continue;
        for (size_t a : state.asked) Lower(a, state.price + state.rest);
        FindRests(end, state);
      }
    for (double& price : with_)
      if (price < 0) price = kNever;
    return with_;
  }

 private:
  State& Before(const State& state) { return boundaries_[size_t(state.boundary)].states[state.before]; }
  const State& Before(const State& state) const {
    return boundaries_[size_t(state.boundary)].states[state.before];
  }

  std::vector<Placement> BranchesAt(int boundary, Branches which) {
    switch (which) {
      case Branches::kNone: return {};
      case Branches::kBest: return BranchPlacements(model_, boundary);
      case Branches::kAll: return AllBranches(model_, boundary);
    }
    return {};
  }

  // Returns the states at a boundary. Placements that give the same parts are one state. The state has the
  // last of these placements, which has more processors than the first: with other shares these processors
  // may get parts (refine.h). At the end of the model it has the first of them.
  Boundary StatesAt(int b) {
    Boundary boundary{{}, {}, LeastReady(model_.graph(), model_.pool(), model_.Live(b))};
    std::map<HeldByProcessor, size_t> known;
    const auto add = [&](const Placement& placement) {
      Holdings held = HoldingsOf(model_, b, placement);
      if (NeedsOneThatIsOff(held)) return;
      HeldByProcessor by_processor = ByProcessor(model_, b, held);
      const auto [at, is_new] = known.try_emplace(by_processor, known.size());
      if (!is_new && b < model_.boundaries() && placement.split != SplitAxis::kBranches)
        boundary.states[at->second].placement = &placement;
      if (!is_new) return;
      boundary.states.push_back({&placement, std::move(held)});
      boundary.ready.Add(std::move(by_processor));
    };
    if (!model_.IsBeforeJoin(b))
      for (const Placement& placement : placements_) add(placement);
    for (const Placement& placement : branches_[size_t(b)]) add(placement);
    return boundary;
  }

  bool NeedsOneThatIsOff(const Holdings& held) const {
    const auto is_off = [&](const PlacedPart& part) { return off_[size_t(part.processor)]; };
    return !off_.empty() && std::any_of(held.begin(), held.end(), [&](const auto& parts) {
      return std::any_of(parts.begin(), parts.end(), is_off);
    });
  }

  static void Sort(Boundary& boundary) {
    const std::vector<State>& states = boundary.states;
    for (size_t s = 0; s < states.size(); ++s)
      if (states[s].price < kNever) boundary.cheapest.push_back(s);
    std::stable_sort(boundary.cheapest.begin(), boundary.cheapest.end(),
                     [&](size_t a, size_t b) { return states[a].price < states[b].price; });
  }

  // Calls `take` for all groups that end in `state` and all states before them, with the boundary and number
  // of the earlier state and the price of that state and the group together. It may skip pairs with a price
  // above `most(before)`, and all pairs with a price above `most(nullptr)`.
  template <class Most, class Take>
  void LookBack(int end, const State& state, const Most& most, const Take& take) {
    GroupCosts group(model_, end, *state.placement);
    while (group.begin() > 0) {
      group.Prepend();
      if (!group.possible()) return;
      if (state.placement->split == SplitAxis::kBranches && group.computing() < 2) continue;
      const double joules = price_.joules ? group.compute_joules() : 0,
                   computing = price_.per_us * group.compute_us() + joules;
      if (computing > most(nullptr)) return;  // longer groups cost even more
      Boundary& from = boundaries_[size_t(group.begin())];
      if (from.cheapest.empty() || from.states[from.cheapest[0]].price + computing > most(nullptr)) continue;
      group.Bound(from.ready);
      const double least = price_.per_us * group.least_us() + joules;
      for (const size_t s : from.cheapest) {
        const State& before = from.states[s];
        if (before.price + least > most(nullptr)) break;
        // infinite if time has no price
        const double enough_us = (most(&before) - before.price - joules) / price_.per_us;
        if (group.LeastUs(from.ready, s, enough_us) > enough_us) continue;
        const double sending = price_.joules ? group.JoulesToSend(before.held) : 0;
        take(group.begin(), s, before.price + price_.per_us * group.Us(before.held) + joules + sending);
      }
    }
  }

  void FindPrice(int end, State& state) {
    LookBack(
        end, state, [&](const State*) { return state.price * kAlike; },
        [&](int boundary, size_t before, double price) {
          if (price <= state.price * kAlike) {
            state.price = price;
            state.boundary = boundary;
            state.before = before;
          }
        });
  }

  // Lowers `rest` of the states before, for plans that go through `state`.
  void FindRests(int end, const State& state) {
    LookBack(
        end, state,
        [&](const State* before) {
          const double most = dearest_ * kAlike - state.rest;
          return before ? std::min(most, before->price + before->rest - state.rest) : most;
        },
        [&](int boundary, size_t s, double price) {
          State& before = boundaries_[size_t(boundary)].states[s];
          before.rest = std::min(before.rest, price - before.price + state.rest);
        });
  }

  double GatherPrice(const Holdings& held) const {
    const Exchange gather = GatherOf(model_, held);
    return price_.per_us * gather.ReadyUs(0) + (price_.joules ? JoulesToSend(gather, model_.pool()) : 0);
  }

  const State& Last() const {
    const std::vector<State>& states = boundaries_.back().states;
    return *std::min_element(states.begin(), states.end(), [](const State& a, const State& b) {
      return a.price + a.rest < b.price + b.rest;
    });
  }

  void Ask(const std::vector<int>& processors, const HeldByProcessor& held, State& state) {
    state.asked.clear();
    for (size_t a = 0; a < processors.size(); ++a)
      if (!held[size_t(processors[a])]->parts.empty()) {
        state.asked.push_back(a);
        with_[a] = kNever;
      }
  }

  void Lower(size_t asked, double price) {
    if (price >= with_[asked]) return;
    const bool was_dearest = with_[asked] == dearest_;
    with_[asked] = price;
    if (was_dearest) dearest_ = *std::max_element(with_.begin(), with_.end());
  }

  // Computes an upper bound for each processor: a plan in which the processor has a part of one group, and
  // that is otherwise the best plan.
  void LeaveBestPlanOnce() {
    const double least = Last().price + Last().rest;
    const State* state = &Last();
    for (int end = model_.boundaries(); end > 0; end = state->boundary, state = &Before(*state)) {
      const double rest = least - state->price;
      for (size_t a : state->asked) Lower(a, least);
      LookBack(
          end, *state,
          [&](const State* before) {
            double most = before ? -kNever : dearest_;
            for (size_t a = 0; before && a < before->asked.size(); ++a)
              most = std::max(most, with_[before->asked[a]]);
            return most - rest;
          },
          [&](int boundary, size_t before, double price) {
            for (size_t a : boundaries_[size_t(boundary)].states[before].asked) Lower(a, price + rest);
          });
    }
  }

  PoolModel& model_;
  const std::vector<Placement>& placements_;      // of every boundary
  std::vector<std::vector<Placement>> branches_;  // by boundary, of those only
  const RequestPrice price_;
  const std::vector<bool> off_;
  std::vector<Boundary> boundaries_;
  // by processor in the list given to PricesWith(): upper bound of the price of the cheapest plan with it;
  // -kNever if no placement has the processor
  std::vector<double> with_;
  double dearest_ = 0;  // the maximum of with_
};

void CheckPlacements(const std::vector<Placement>& placements) {
  if (placements.empty() || placements[0].split != SplitAxis::kNone ||
      placements[0].processors != std::vector{0})
    Invalid("planner", "the first placement is not the caller's own processor; got {} placements",
            placements.size());
}

// Plans without the processors in `off` (as in DynamicPlanner).
Plan PlanWithout(const std::vector<bool>& off, const Graph& graph, const PoolCosts& pool,
                 const std::vector<Placement>& placements, const DynamicOptions& options) {
  CheckPlacements(placements);
  PoolModel model(graph, pool);
  Plan plan = DynamicPlanner(model, placements, options, off).Best();
  NamePlan(plan, graph, NamesOf(pool), "dynamic");
  return plan;
}

// Returns the processors that the plan does not use; of equal processors only the first.
std::vector<int> LeftOut(const Plan& plan, const PoolCosts& pool) {
  const std::set<int> used = UsedProcessors(plan);
  const auto alike = [&](int a, int b) {
    return SameTimes(pool.processors[size_t(a)], pool.processors[size_t(b)]);
  };
  std::vector<int> left_out;
  for (int d = 0; d < int(pool.processors.size()); ++d) {
    const bool known =
        std::any_of(left_out.begin(), left_out.end(), [&](int other) { return alike(other, d); });
    if (!used.count(d) && !known) left_out.push_back(d);
  }
  return left_out;
}

}  // namespace

Plan PlanPool(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
              const DynamicOptions& options) {
  return PlanWithout({}, graph, pool, placements, options);
}

Plan PlanWithin(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
                const std::vector<int>& processors, const DynamicOptions& options) {
  std::vector<bool> off(pool.processors.size(), true);
  for (int processor : processors) off[size_t(processor)] = false;
  return PlanWithout(off, graph, pool, placements, options);
}

Plan PlanPool(const Graph& graph, const PoolCosts& pool, const DynamicOptions& options) {
  Verify(pool, LayersOf(graph).size());
  return RefineShares(graph, pool, PlanPool(graph, pool, PlacementsOf(pool), options), options);
}

PlanAndLeftOut PlanPoolAndLeftOut(const Graph& graph, const PoolCosts& pool) {
  PoolModel model(graph, pool);
  const std::vector<Placement> placements = PlacementsOf(pool);
  DynamicPlanner planner(model, placements, {});
  Plan plan = planner.Best();
  NamePlan(plan, graph, NamesOf(pool), "dynamic");
  plan = RefineShares(graph, pool, std::move(plan));
  std::vector<LeftOutProcessor> left_out;
  const std::vector<int> processors = LeftOut(plan, pool);
  const std::vector<double> us = planner.PricesWith(processors);
  for (size_t i = 0; i < processors.size(); ++i) left_out.push_back({processors[i], us[i]});
  return {std::move(plan), std::move(left_out)};
}

std::vector<double> UsWithProcessors(const Graph& graph, const PoolCosts& pool,
                                     const std::vector<Placement>& placements,
                                     const std::vector<int>& processors) {
  CheckPlacements(placements);
  PoolModel model(graph, pool);
  return DynamicPlanner(model, placements, {}).PricesWith(processors);
}

Plan PlanAlone(const Graph& graph, const PoolCosts& pool, int processor) {
  PoolModel model(graph, pool);
  Plan plan = PlanOf(model, {{0, model.boundaries(), WholeOn(processor)}});
  NamePlan(plan, graph, NamesOf(pool), "alone");
  return plan;
}

}  // namespace mete
