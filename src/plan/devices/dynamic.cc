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

// The best way to have what is live at a boundary lie as a spread has it.
struct State {
  double us = kNever;
  int boundary = -1;  // where the last group begins
  size_t before = 0;  // the state there
};

// States are numbered by spread, first those of plans that a given device has no part in, then those that it has.
class DynamicPlanner {
 public:
  DynamicPlanner(PoolModel& model, const std::vector<Spread>& spreads, std::optional<int> with)
      : model_(model), spreads_(spreads), with_(with), states_(spreads.size() * (with ? 2 : 1)) {
    const size_t count = size_t(model.boundaries()) + 1;
    best_.assign(count, std::vector<State>(states_));
    for (size_t b = 0; b < count; ++b) {
      held_.emplace_back();
      for (const Spread& spread : spreads) held_.back().push_back(HoldingsOf(model, int(b), spread));
    }
    best_[0][0].us = 0;
  }

  DevicesPlan Do() {
    for (int end = 1; end <= model_.boundaries(); ++end)
      for (size_t s = 0; s < spreads_.size(); ++s) Extend(end, s);
    return Describe(LastState());
  }

 private:
  const Spread& SpreadOf(size_t state) const { return spreads_[state % spreads_.size()]; }
  const Holdings& HeldAt(int boundary, size_t state) const { return held_[size_t(boundary)][state % spreads_.size()]; }

  // Whether the device that must have a part has one where such a spread ends: small values do not reach all devices.
  bool HasPart(int end, size_t spread) const {
    const std::vector<int>& devices = spreads_[spread].devices;
    const auto at = with_ ? std::find(devices.begin(), devices.end(), *with_) : devices.end();
    if (at == devices.end()) return false;
    const size_t k = size_t(at - devices.begin());
    const Holdings& held = held_[size_t(end)][spread];
    return std::any_of(held.begin(), held.end(), [&](const auto& parts) { return parts[k].has_value(); });
  }

  // Looks for the best last group among all that end here under this spread.
  void Extend(int end, size_t spread) {
    std::vector<State>& best = best_[size_t(end)];
    GroupCosts group(model_, end, spreads_[spread]);
    const bool has_part = HasPart(end, spread);
    while (group.begin() > 0) {
      group.Prepend();
      const double least_us = group.compute_us();
      if (least_us > best[spread].us * kAlike && least_us > best[spread + states_ - spreads_.size()].us * kAlike) break;  // nor is a longer one
      for (size_t before = 0; before < states_; ++before) {
        const double before_us = best_[size_t(group.begin())][before].us;
        State& state = best[spread + (with_ && (has_part || before >= spreads_.size()) ? spreads_.size() : 0)];
        if (before_us == kNever || before_us + least_us > state.us * kAlike) continue;
        const double us = before_us + group.Us(SpreadOf(before), HeldAt(group.begin(), before));
        if (us <= state.us * kAlike) state = {us, group.begin(), before};
      }
    }
  }

  double GatherUs(size_t state) const { return mete::GatherUs(model_, SpreadOf(state), HeldAt(model_.boundaries(), state)); }

  size_t LastState() const {
    size_t last = states_ - spreads_.size();  // of those that the device, if one is given, has a part in
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
      GroupCosts group(model_, end, SpreadOf(last));
      while (group.begin() > state.boundary) group.Prepend();
      plan.groups.push_back(group.Describe(SpreadOf(state.before), HeldAt(state.boundary, state.before)));
      end = state.boundary, last = state.before;
    }
    std::reverse(plan.groups.begin(), plan.groups.end());
    return plan;
  }

  PoolModel& model_;
  const std::vector<Spread>& spreads_;
  const std::optional<int> with_;            // the device that must have a part
  const size_t states_;
  std::vector<std::vector<State>> best_;     // by boundary and state
  std::vector<std::vector<Holdings>> held_;  // by boundary and spread
};

void CheckSpreads(const std::vector<Spread>& spreads) {
  if (spreads.empty() || spreads[0].split != SplitAxis::kNone || spreads[0].devices != std::vector{0})
    Invalid("planner", "the first spread is not the caller's own device; got {} spreads", spreads.size());
}

// Of a plan, all but its groups and times.
DevicesPlan Named(DevicesPlan plan, const PoolModel& model, const char* planner) {
  plan.model = model.graph().name, plan.planner = planner;
  for (const DeviceCosts& device : model.pool().devices) plan.devices.push_back(device.name);
  for (const Layer& layer : model.layers()) plan.layers.push_back(layer.name);
  return plan;
}

}  // namespace

DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool, const std::vector<Spread>& spreads) {
  CheckSpreads(spreads);
  PoolModel model(graph, pool);
  return Named(DynamicPlanner(model, spreads, {}).Do(), model, "dynamic");
}

DevicesPlan PlanDevices(const Graph& graph, const PoolCosts& pool) { return PlanDevices(graph, pool, SpreadsOf(pool)); }

double UsWithDevice(const Graph& graph, const PoolCosts& pool, const std::vector<Spread>& spreads, int device) {
  CheckSpreads(spreads);
  PoolModel model(graph, pool);
  return DynamicPlanner(model, spreads, device).Do().predicted_us;
}

DevicesPlan PlanAlone(const Graph& graph, const PoolCosts& pool, int device) {
  PoolModel model(graph, pool);
  const Spread caller = WholeOn(0), alone = WholeOn(device);
  DevicesPlan plan;
  GroupCosts group(model, model.boundaries(), alone);
  while (group.begin() > 0) group.Prepend();
  plan.groups.push_back(group.Describe(caller, HoldingsOf(model, 0, caller)));
  plan.gather_us = GatherUs(model, alone, HoldingsOf(model, model.boundaries(), alone));
  plan.predicted_us = plan.groups[0].us + plan.gather_us;
  return Named(std::move(plan), model, "alone");
}

}  // namespace mete
