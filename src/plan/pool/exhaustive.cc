#include "plan/pool/exhaustive.h"

#include <algorithm>

#include "base/error.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/placements.h"

namespace mete {
namespace {

constexpr int kTenths = 10;
// Of a state before a group and one behind it, for all groups: 5e6 steps, of 23 layers on three processors,
// took 1.4 s on a busy core of an AMD EPYC, 3e5 steps of 23 layers on two 0.3 s.
constexpr double kMostSteps = 1e8;

void Add(Placement placement, std::vector<Placement>& placements) {
  if (std::find(placements.begin(), placements.end(), placement) == placements.end())
    placements.push_back(std::move(placement));
}

// Adds all ways to deal out tenths to the processors behind `shares`, each of which gets one or more.
void AddShares(SplitAxis axis, const std::vector<int>& processors, std::vector<double> shares, int tenths,
               std::vector<Placement>& placements) {
  const int behind = int(processors.size() - shares.size()) - 1;
  if (behind == 0) {
    shares.push_back(double(tenths) / kTenths);
    Add({axis, processors, std::move(shares)}, placements);
    return;
  }
  for (int own = 1; own <= tenths - behind; ++own) {
    shares.push_back(double(own) / kTenths);
    AddShares(axis, processors, shares, tenths - own, placements);
    shares.pop_back();
  }
}

std::vector<Placement> AllPlacements(const PoolCosts& pool) {
  std::vector<Placement> placements = PlacementsOf(pool);
  for (int d = 1; d < int(pool.processors.size()); ++d) Add(WholeOn(d), placements);
  for (const std::vector<int>& processors : ProcessorSets(pool))
    if (processors.size() > 1 && processors.size() <= size_t(kTenths))
      for (const SplitAxis axis : {SplitAxis::kRows, SplitAxis::kChannels})
        AddShares(axis, processors, {}, kTenths, placements);
  return placements;
}

}  // namespace

Plan PlanExhaustively(const Graph& graph, const PoolCosts& pool) {
  Verify(pool, LayersOf(graph).size());
  std::vector<Placement> placements = AllPlacements(pool);
  const double layers = double(pool.processors[0].layers.size()), ways = double(placements.size()),
               steps = layers * (layers + 1) / 2 * ways * ways;
  if (steps > kMostSteps)
    Fail(Code::kResourceExhausted, graph.name.empty() ? "model" : graph.name,
         "is too large for the planner exhaustive; got {:.2g} steps for {} layers and {} placements of each, "
         "expected at most {:.0e}, which take about a minute; try the planner dynamic",
         steps, layers, ways, kMostSteps);
  for (const PlannedGroup& group : PlanPool(graph, pool).groups)
    if (group.placement.split != SplitAxis::kBranches) Add(group.placement, placements);
  return PlanPool(graph, pool, placements, {.branches = Branches::kAll});
}

}  // namespace mete
