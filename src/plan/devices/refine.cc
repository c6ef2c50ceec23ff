#include "plan/devices/refine.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "plan/devices/objective.h"

namespace mete {
namespace {

constexpr int kMostRounds = 8;         // this value is a guess: two or three rounds were enough when counted
constexpr double kCheaper = 1 - 1e-6;  // a ratio of prices that is not rounding

double PriceOf(const Graph& graph, const PoolCosts& pool, const DevicesPlan& plan,
               const RequestPrice& price) {
  return price.per_us * plan.predicted_us + (price.joules ? JoulesOf(graph, plan, pool, 0) : 0);
}

std::set<std::vector<int>> SetsOf(const DevicesPlan& plan, const PoolCosts& pool) {
  std::vector<int> all(pool.devices.size());
  std::iota(all.begin(), all.end(), 0);
  std::set<std::vector<int>> sets{all};
  for (const PlannedGroup& group : plan.groups) sets.insert(group.placement.devices);
  return sets;
}

// Adds placements with shares that fit the plan's groups. Returns whether any of them was new.
bool AddFitting(const DevicesPlan& plan, const PoolCosts& pool, std::vector<Placement>& placements) {
  const size_t before = placements.size();
  for (const PlannedGroup& group : plan.groups)
    for (const std::vector<int>& devices : SetsOf(plan, pool)) {
      if (devices.size() < 2 || group.first == group.last) continue;
      for (const SplitAxis split : {SplitAxis::kRows, SplitAxis::kChannels})
        AddPlacement({split, devices, SharesOf(pool, devices, size_t(group.first), size_t(group.last))},
                     placements);
    }
  return placements.size() > before;
}

}  // namespace

DevicesPlan RefineShares(const Graph& graph, const PoolCosts& pool, DevicesPlan plan,
                         const DynamicOptions& options) {
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<Placement> placements{WholeOn(0)};
    for (const PlannedGroup& group : plan.groups)
      if (group.placement.split != SplitAxis::kBranches &&  // the planner has those of each boundary
          std::find(placements.begin(), placements.end(), group.placement) == placements.end())
        placements.push_back(group.placement);
    if (!AddFitting(plan, pool, placements)) break;
    DevicesPlan next = PlanDevices(graph, pool, placements, options);
    if (PriceOf(graph, pool, next, options.price) >= PriceOf(graph, pool, plan, options.price) * kCheaper)
      break;
    plan = std::move(next);
  }
  return plan;
}

}  // namespace mete
