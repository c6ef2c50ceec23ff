#include "plan/devices/dynamic.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.h"
#include "plan/devices/group_costs.h"

namespace mete {
namespace {

constexpr double kAlike = 1 + 1e-9;  // of plans that take as long the one with fewer groups is taken: sums differ by rounding
constexpr double kNever = std::numeric_limits<double>::infinity();

// The best way to have what is live at a boundary lie as a placement has it.
struct State {
  double us = kNever;
  int boundary = -1;  // where the last group begins
  size_t before = 0;  // the state there
};

// States are numbered by placement, first those of plans that a given device has no part in, then those that it has.
class DynamicPlanner {
 public:
  DynamicPlanner(PoolModel& model, const std::vector<Placement>& placements, std::optional<int> with)
      : model_(model), placements_(placements), with_(with), states_(placements.size() * (with ? 2 : 1)) {
    const size_t count = size_t(model.boundaries()) + 1;
    best_.assign(count, std::vector<State>(states_));
    for (size_t b = 0; b < count; ++b) {
      held_.emplace_back();
      for (const Placement& placement : placements) held_.back().push_back(HoldingsOf(model, int(b), placement));
    }
    best_[0][0].us = 0;
  }

  DevicesPlan Do() {
    for (int end = 1; end <= model_.boundaries(); ++end)
      for (size_t s = 0; s < placements_.size(); ++s) Extend(end, s);
    return Describe(LastState());
  }

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

  // Looks for the best last group among all that end here under this placement.
  void Extend(int end, size_t placement) {
    std::vector<State>& best = best_[size_t(end)];
    GroupCosts group(model_, end, placements_[placement]);
    const bool has_part = HasPart(end, placement);
    while (group.begin() > 0) {
      group.Prepend();
      const double least_us = group.compute_us();
      const double worst_us = std::max(best[placement].us, best[placement + states_ - placements_.size()].us);
      if (least_us > worst_us * kAlike) break;  // and so is every longer one
      for (size_t before = 0; before < states_; ++before) {
        const double before_us = best_[size_t(group.begin())][before].us;
        State& state = best[placement + (with_ && (has_part || before >= placements_.size()) ? placements_.size() : 0)];
        if (before_us == kNever || before_us + least_us > state.us * kAlike) continue;
        if (before_us + group.LeastUs(HeldAt(group.begin(), before)) > state.us * kAlike) continue;
        const double us = before_us + group.Us(HeldAt(group.begin(), before));
        if (us <= state.us * kAlike) state = {us, group.begin(), before};
      }
    }
  }

  double GatherUs(size_t state) const { return mete::GatherUs(model_, HeldAt(model_.boundaries(), state)); }

  size_t LastState() const {
    size_t last = states_ - placements_.size();  // of those that the device, if one is given, has a part in
    for (size_t s = last + 1; s < states_; ++s)
      if (best_.back()[s].us + GatherUs(s) < best_.back()[last].us + GatherUs(last)) last = s;
    return last;
  }

  DevicesPlan Describe(size_t last) {
    DevicesPlan plan;
    plan.gather_us = GatherUs(last);
    plan.predicted_us = best_.back()[last].us + plan.gather_us;
    for (int end = model_.boundaries(); end > 0 && plan.predicted_us < kNever;) {
      const State& state = best_[size_t(end)][last];
      GroupCosts group(model_, end, PlacementOf(last));
      while (group.begin() > state.boundary) group.Prepend();
      plan.groups.push_back(group.Describe(HeldAt(state.boundary, state.before)));
      end = state.boundary, last = state.before;
    }
    std::reverse(plan.groups.begin(), plan.groups.end());
    return plan;
  }

  PoolModel& model_;
  const std::vector<Placement>& placements_;
  const std::optional<int> with_;            // the device that must have a part
  const size_t states_;
  std::vector<std::vector<State>> best_;     // by boundary and state
  std::vector<std::vector<Holdings>> held_;  // by boundary and placement
};

void CheckPlacements(const std::vector<Placement>& placements) {
  if (placements.empty() || placements[0].split != SplitAxis::kNone || placements[0].devices != std::vector{0})
    Invalid("planner", "the first placement is not the caller's own device; got {} placements", placements.size());
}

}  // namespace

DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements) {
  CheckPlacements(placements);
  PoolModel model(graph, pool);
  DevicesPlan plan = DynamicPlanner(model, placements, {}).Do();
  NamePlan(plan, graph, pool, "dynamic");
  return plan;
}

DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool) {
  Verify(pool, LayersOf(graph).size());
  return PlanDevices(graph, pool, PlacementsOf(pool));
}

double UsWithDevice(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements, int device) {
  CheckPlacements(placements);
  PoolModel model(graph, pool);
  return DynamicPlanner(model, placements, device).Do().predicted_us;
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
