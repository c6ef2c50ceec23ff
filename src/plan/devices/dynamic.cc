#include "plan/devices/dynamic.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.h"
#include "plan/devices/group_costs.h"
#include "plan/devices/refine.h"

namespace mete {
namespace {

constexpr double kAlike = 1 + 1e-9;  // of plans that take as long the one with fewer groups is taken: sums differ by rounding
constexpr double kNever = std::numeric_limits<double>::infinity();

// The best way to have what is live at a boundary lie as a placement has it.
struct State {
  double price = kNever;
  int boundary = -1;  // where the last group begins
  size_t before = 0;  // the state there
};

// States are numbered by placement, first those of plans that a given device has no part in, then those that it has.
class DynamicPlanner {
 public:
  DynamicPlanner(PoolModel& model, const std::vector<Placement>& placements, const RequestPrice& price, std::optional<int> with)
      : model_(model), placements_(placements), price_(price), with_(with), states_(placements.size() * (with ? 2 : 1)) {
    const size_t count = size_t(model.boundaries()) + 1;
    best_.assign(count, std::vector<State>(states_));
    for (size_t b = 0; b < count; ++b) {
      held_.emplace_back();
      for (const Placement& placement : placements) held_.back().push_back(HoldingsOf(model, int(b), placement));
    }
    best_[0][0].price = 0;
  }

  // The least price; infinite where no plan has a part for the device that must have one.
  double Do() {
    for (int end = 1; end <= model_.boundaries(); ++end) {
      SortStates(end - 1);
      for (size_t s = 0; s < placements_.size(); ++s) Extend(end, s);
    }
    return Price(LastState());
  }
  DevicesPlan Plan() { return Describe(LastState()); }

 private:
  const Placement& PlacementOf(size_t state) const { return placements_[state % placements_.size()]; }
  const Holdings& HeldAt(int boundary, size_t state) const { return held_[size_t(boundary)][state % placements_.size()]; }

  // Whether the device that must have a part has one where such a placement ends: small values do not reach all devices.
  bool HasPart(int end, size_t placement) const {
    const Holdings& held = held_[size_t(end)][placement];
    return with_ && std::any_of(held.begin(), held.end(), [&](const std::vector<DevicePart>& parts) {
             return std::any_of(parts.begin(), parts.end(), [&](const DevicePart& p) { return p.device == *with_; });
           });
  }

  void SortStates(int boundary) {
    const std::vector<State>& best = best_[size_t(boundary)];
    std::vector<size_t>& order = cheapest_.emplace_back();
    for (size_t s = 0; s < states_; ++s)
      if (best[s].price < kNever) order.push_back(s);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return best[a].price < best[b].price; });
  }

  // Looks for the best last group among all that end here under this placement.
  void Extend(int end, size_t placement) {
    std::vector<State>& best = best_[size_t(end)];
    GroupCosts group(model_, end, placements_[placement]);
    const bool has_part = HasPart(end, placement);
    while (group.begin() > 0) {
      group.Prepend();
      const double joules = price_.joules ? group.compute_joules() : 0, least = price_.per_us * group.compute_us() + joules;
      const double worst = std::max(best[placement].price, best[placement + states_ - placements_.size()].price);
      if (least > worst * kAlike) break;  // and so is every longer one
      for (const size_t before : cheapest_[size_t(group.begin())]) {
        const double paid = best_[size_t(group.begin())][before].price;
        if (paid + least > std::max(best[placement].price, best[placement + states_ - placements_.size()].price) * kAlike) break;
        State& state = best[placement + (with_ && (has_part || before >= placements_.size()) ? placements_.size() : 0)];
        if (paid + least > state.price * kAlike) continue;
        const Holdings& held = HeldAt(group.begin(), before);
        const double enough_us = (state.price * kAlike - paid - joules) / price_.per_us;  // infinite where time has no price
        if (group.LeastUs(held, enough_us) > enough_us) continue;
        const double price = paid + price_.per_us * group.Us(held) + joules + (price_.joules ? group.JoulesToSend(held) : 0);
        if (price <= state.price * kAlike) state = {price, group.begin(), before};
      }
    }
  }

  double GatherPrice(size_t state) const {
    const Exchange gather = GatherOf(model_, HeldAt(model_.boundaries(), state));
    return price_.per_us * gather.ReadyUs(0) + (price_.joules ? JoulesToSend(gather, model_.pool()) : 0);
  }
  double Price(size_t last) const { return best_.back()[last].price + GatherPrice(last); }

  size_t LastState() const {
    size_t last = states_ - placements_.size();  // of those that the device, if one is given, has a part in
    for (size_t s = last + 1; s < states_; ++s)
      if (Price(s) < Price(last)) last = s;
    return last;
  }

  DevicesPlan Describe(size_t last) {
    DevicesPlan plan;
    plan.predicted_us = plan.gather_us = GatherUs(model_, HeldAt(model_.boundaries(), last));
    for (int end = model_.boundaries(); end > 0;) {
      const State& state = best_[size_t(end)][last];
      GroupCosts group(model_, end, PlacementOf(last));
      while (group.begin() > state.boundary) group.Prepend();
      plan.groups.push_back(group.Describe(HeldAt(state.boundary, state.before)));
      plan.predicted_us += plan.groups.back().us;
      end = state.boundary, last = state.before;
    }
    std::reverse(plan.groups.begin(), plan.groups.end());
    return plan;
  }

  PoolModel& model_;
  const std::vector<Placement>& placements_;
  const RequestPrice price_;
  const std::optional<int> with_;            // the device that must have a part
  const size_t states_;
  std::vector<std::vector<State>> best_;     // by boundary and state
  std::vector<std::vector<size_t>> cheapest_;  // by boundary: the states that there are, the cheapest first
  std::vector<std::vector<Holdings>> held_;  // by boundary and placement
};

void CheckPlacements(const std::vector<Placement>& placements) {
  if (placements.empty() || placements[0].split != SplitAxis::kNone || placements[0].devices != std::vector{0})
    Invalid("planner", "the first placement is not the caller's own device; got {} placements", placements.size());
}

}  // namespace

DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements, const RequestPrice& price) {
  CheckPlacements(placements);
  PoolModel model(graph, pool);
  DynamicPlanner planner(model, placements, price, {});
  planner.Do();
  DevicesPlan plan = planner.Plan();
  NamePlan(plan, graph, pool, "dynamic");
  return plan;
}

DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool) {
  Verify(pool, LayersOf(graph).size());
  return RefineShares(graph, pool, PlanDevices(graph, pool, PlacementsOf(pool)));
}

double UsWithDevice(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements, int device) {
  CheckPlacements(placements);
  PoolModel model(graph, pool);
  return DynamicPlanner(model, placements, {}, device).Do();
}

DevicesPlan PlanAlone(const Graph& graph, const PoolCosts& pool, int device) {
  PoolModel model(graph, pool);
  const Placement alone = WholeOn(device);
  DevicesPlan plan;
  GroupCosts group(model, model.boundaries(), alone);
  while (group.begin() > 0) group.Prepend();
  plan.groups.push_back(group.Describe(HoldingsOf(model, 0, WholeOn(0))));
  plan.gather_us = GatherUs(model, HoldingsOf(model, model.boundaries(), alone));
  plan.predicted_us = plan.groups[0].us + plan.gather_us;
  NamePlan(plan, graph, pool, "alone");
  return plan;
}

}  // namespace mete
