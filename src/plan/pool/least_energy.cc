#include "plan/pool/least_energy.h"

#include <algorithm>
#include <limits>
#include <set>

#include "plan/pool/dynamic.h"
#include "plan/pool/objective.h"
#include "plan/pool/refine.h"

namespace mete {
namespace {

using Processors = std::vector<int>;  // ascending

// Returns the sets of processors to try: the caller's own processor with each set of ProcessorSets() and of
// the placements; hardware is on with all of its processors.
std::vector<Processors> SetsThatAreOn(const std::vector<Placement>& placements, const PoolCosts& pool) {
  std::set<Processors> sets;
  const auto add = [&](const Processors& processors) {
    std::set<int> units{0};
    for (const int d : processors) units.insert(FirstOfUnit(pool, d));
    Processors on;
    for (int d = 0; d < int(pool.processors.size()); ++d)
      if (units.contains(FirstOfUnit(pool, d))) on.push_back(d);
    sets.insert(std::move(on));
  };
  for (const Processors& processors : ProcessorSets(pool)) add(processors);
  for (const Placement& placement : placements) add(placement.processors);
  return {sets.begin(), sets.end()};
}

double Joules(const Graph& graph, const PoolCosts& pool, const Plan& plan) {
  return JoulesOf(graph, plan, pool, plan.predicted_us);
}

// Returns the plan with the least energy. `fastest` is the plan with the least time with the same placements.
Plan LeastOf(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
             const Plan& fastest) {
  std::vector<Processors> sets = SetsThatAreOn(placements, pool);
  std::stable_sort(sets.begin(), sets.end(), [&](const Processors& a, const Processors& b) {
    return IdleWatts(pool, a) < IdleWatts(pool, b);
  });
  // without what idle processors take: no plan has less of the rest
  Plan best = PlanPool(graph, pool, placements, {.price = {.per_us = 0, .joules = true}});
  const double least_joules = JoulesOf(graph, best, pool, 0);
  double joules = Joules(graph, pool, best);
  for (const Processors& processors : sets) {
    const double watts = IdleWatts(pool, processors);
    if (least_joules + watts * fastest.predicted_us * 1e-6 > joules) break;
    Plan plan =
        PlanWithin(graph, pool, placements, processors, {.price = {.per_us = watts * 1e-6, .joules = true}});
    if (const double with = Joules(graph, pool, plan); with < joules) {
      joules = with;
      best = std::move(plan);
    }
  }
  return best;
}

}  // namespace

Plan PlanLeastEnergy(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements) {
  CheckPower(pool);
  return LeastOf(graph, pool, placements, PlanPool(graph, pool, placements));
}

Plan PlanLeastEnergy(const Graph& graph, const PoolCosts& pool) {
  CheckPower(pool);
  Verify(pool, LayersOf(graph).size());
  const std::vector<Placement> placements = PlacementsOf(pool);
  Plan fastest = PlanPool(graph, pool, placements), best = LeastOf(graph, pool, placements, fastest);
  // With other shares more processors may be on, and then a plan is dearer than the price says.
  const DynamicOptions options{
      .price = {.per_us = IdleWatts(pool, ProcessorsOn(best)) * 1e-6, .joules = true}};
  for (Plan plan : {RefineShares(graph, pool, best, options), RefineShares(graph, pool, std::move(fastest))})
    if (Joules(graph, pool, plan) < Joules(graph, pool, best)) best = std::move(plan);
  return best;
}

}  // namespace mete
