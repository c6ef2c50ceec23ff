#include "plan/pool/refine.h"

#include <algorithm>
#include <set>

#include "plan/pool/grid.h"
#include "plan/pool/objective.h"

namespace mete {
namespace {

constexpr int kMostRounds = 8;         // this value is a guess: two or three rounds were enough when counted
constexpr double kCheaper = 1 - 1e-6;  // a ratio of prices that is not rounding

double PriceOf(const Graph& graph, const PoolCosts& pool, const Plan& plan, const RequestPrice& price) {
  return price.per_us * plan.predicted_us + (price.joules ? JoulesOf(graph, plan, pool, 0) : 0);
}

std::set<std::vector<int>> SetsOf(const Plan& plan, const PoolCosts& pool) {
  const std::vector<std::vector<int>> full = FullSets(pool);
  std::set<std::vector<int>> sets(full.begin(), full.end());
  for (const PlannedGroup& group : plan.groups) sets.insert(group.placement.processors);
  return sets;
}

// Adds placements with shares that fit the plan's groups.
void AddFitting(const Plan& plan, const PoolCosts& pool, std::vector<Placement>& placements) {
  for (const PlannedGroup& group : plan.groups)
    for (const std::vector<int>& processors : SetsOf(plan, pool)) {
      if (processors.size() < 2 || group.first == group.last) continue;
      for (const SplitAxis split : {SplitAxis::kRows, SplitAxis::kChannels})
        AddPlacement({split, processors, SharesOf(pool, processors, size_t(group.first), size_t(group.last))},
                     placements);
    }
}

// Between two processors (each of them may be one of several types of its hardware) the grid costs little,
// and a plan is then never more expensive than one of a planner that has no other ratios.
void AddGrid(const PoolCosts& pool, std::vector<Placement>& placements) {
  for (const std::vector<int>& two : FullSets(pool)) {
    if (two.size() != 2) continue;
    for (const int processor : two) AddPlacement(WholeOn(processor), placements);
    for (const SplitAxis axis : {SplitAxis::kRows, SplitAxis::kChannels})
      for (const Placement& placement : GridOf(axis, two)) placements.push_back(placement);
  }
}

// Whether one of the lists has all of `placements`: no plan of them is cheaper than the best one of that
// list.
bool AreWeighed(const std::vector<Placement>& placements, const std::vector<std::vector<Placement>>& lists) {
  return std::any_of(lists.begin(), lists.end(), [&](const std::vector<Placement>& list) {
    return std::all_of(placements.begin(), placements.end(), [&](const Placement& placement) {
      return std::find(list.begin(), list.end(), placement) != list.end();
    });
  });
}

}  // namespace

Plan RefineShares(const Graph& graph, const PoolCosts& pool, Plan plan, const DynamicOptions& options) {
  std::vector<std::vector<Placement>> weighed{PlacementsOf(pool)};
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<Placement> placements{WholeOn(0)};
    for (const PlannedGroup& group : plan.groups)
      if (group.placement.split != SplitAxis::kBranches &&  // the planner has those of each boundary
          std::find(placements.begin(), placements.end(), group.placement) == placements.end())
        placements.push_back(group.placement);
    AddFitting(plan, pool, placements);
    if (round == 0) AddGrid(pool, placements);
    if (AreWeighed(placements, weighed)) break;
    Plan next = PlanPool(graph, pool, placements, options);
    if (PriceOf(graph, pool, next, options.price) >= PriceOf(graph, pool, plan, options.price) * kCheaper)
      break;
    plan = std::move(next);
    weighed.push_back(std::move(placements));
  }
  return plan;
}

}  // namespace mete
