#include "plan/devices/least_energy.h"

#include <algorithm>
#include <limits>
#include <set>

#include "plan/devices/dynamic.h"
#include "plan/devices/objective.h"
#include "plan/devices/refine.h"

namespace mete {
namespace {

using Devices = std::vector<int>;  // ascending

// Returns the sets of devices to try: the caller's own device with each set of DeviceSets() and of the
// placements.
std::vector<Devices> SetsThatAreOn(const std::vector<Placement>& placements, const PoolCosts& pool) {
  std::set<Devices> sets;
  const auto add = [&](Devices devices) {
    if (devices.empty() || devices[0] != 0) devices.insert(devices.begin(), 0);
    sets.insert(std::move(devices));
  };
  for (const Devices& devices : DeviceSets(pool)) add(devices);
  for (const Placement& placement : placements) add(placement.devices);
  return {sets.begin(), sets.end()};
}

double IdleWatts(const PoolCosts& pool, const Devices& devices) {
  double watts = 0;
  for (int d : devices) watts += pool.devices[size_t(d)].power->idle_w;
  return watts;
}

double Joules(const Graph& graph, const PoolCosts& pool, const Plan& plan) {
  return JoulesOf(graph, plan, pool, plan.predicted_us);
}

// Returns the plan with the least energy. `fastest` is the plan with the least time with the same placements.
Plan LeastOf(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
             const Plan& fastest) {
  std::vector<Devices> sets = SetsThatAreOn(placements, pool);
  std::stable_sort(sets.begin(), sets.end(), [&](const Devices& a, const Devices& b) {
    return IdleWatts(pool, a) < IdleWatts(pool, b);
  });
  // without what idle devices take: no plan has less of the rest
  Plan best = PlanDevices(graph, pool, placements, {.price = {0, true}});
  const double least_joules = JoulesOf(graph, best, pool, 0);
  double joules = Joules(graph, pool, best);
  for (const Devices& devices : sets) {
    const double watts = IdleWatts(pool, devices);
    if (least_joules + watts * fastest.predicted_us * 1e-6 > joules) break;
    Plan plan = PlanWithin(graph, pool, placements, devices, {.price = {watts * 1e-6, true}});
    if (const double with = Joules(graph, pool, plan); with < joules) joules = with, best = std::move(plan);
  }
  return best;
}

}  // namespace

Plan PlanLeastEnergy(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements) {
  CheckPower(pool);
  return LeastOf(graph, pool, placements, PlanDevices(graph, pool, placements));
}

Plan PlanLeastEnergy(const Graph& graph, const PoolCosts& pool) {
  CheckPower(pool);
  Verify(pool, LayersOf(graph).size());
  const std::vector<Placement> placements = PlacementsOf(pool);
  Plan fastest = PlanDevices(graph, pool, placements), best = LeastOf(graph, pool, placements, fastest);
  // With other shares more devices may be on, and then a plan is dearer than the price says.
  const DynamicOptions options{.price = {IdleWatts(pool, DevicesOn(best)) * 1e-6, true}};
  for (Plan plan : {RefineShares(graph, pool, best, options), RefineShares(graph, pool, std::move(fastest))})
    if (Joules(graph, pool, plan) < Joules(graph, pool, best)) best = std::move(plan);
  return best;
}

}  // namespace mete
