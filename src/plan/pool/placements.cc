#include "plan/pool/placements.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace mete {
namespace {

// The most processors of which all subsets (63) are tried. This value is a guess: a larger pool has few kinds
// of processors, or its plan is not urgent.
constexpr size_t kAllSubsets = 6;
// Every number of the fastest processors is tried up to this one, above it steps of a quarter. This value is
// a guess, as in plan/cores.
constexpr size_t kEachNumber = 8;
// The most sets with one processor of each hardware. This value is a guess: four GPUs, each in two types.
constexpr size_t kMostFullSets = 16;
constexpr double kSameShare = 0.01;  // smaller differences of shares are ignored; a guess: a row of a hundred

// Returns the time of layers [first, last) in microseconds.
double LayersUs(const ProcessorCosts& processor, size_t first, size_t last) {
  double us = 0;
  for (size_t i = first; i < last; ++i) us += processor.layers[i].us;
  return us;
}

bool AllCan(const PoolCosts& pool, const std::vector<int>& processors, size_t layer) {
  return std::all_of(processors.begin(), processors.end(),
                     [&](int d) { return pool.processors[size_t(d)].layers[layer].can(); });
}

// Returns the time on `processor` of the layers that all `processors` can compute: the others are in no group
// that they share. All layers, if there is no such one.
double CommonUs(const PoolCosts& pool, const std::vector<int>& processors, int processor, size_t first,
                size_t last) {
  double us = 0;
  bool any = false;
  for (size_t l = first; l < last; ++l)
    if (AllCan(pool, processors, l)) {
      us += pool.processors[size_t(processor)].layers[l].us;
      any = true;
    }
  return any ? us : LayersUs(pool.processors[size_t(processor)], first, last);
}

// Returns the layer at which the first processor has done half of its work.
size_t HalfWay(const PoolCosts& pool) {
  const size_t layers = pool.processors[0].layers.size();
  const double all = LayersUs(pool.processors[0], 0, layers);
  size_t half = 0;
  for (double us = 0; half < layers && us < all / 2; ++half) us += pool.processors[0].layers[half].us;
  return half;
}

// Returns whether the set has only the first ones of equal processors. Other ones would give the same costs,
// except that the caller's own processor needs no message.
bool TakesFirstOnes(const PoolCosts& pool, const std::vector<int>& processors) {
  for (int d : processors)
    for (int before = 0; before < d; ++before)
      if (Alike(pool.processors[size_t(before)], pool.processors[size_t(d)]) &&
          !std::count(processors.begin(), processors.end(), before))
        return false;
  return true;
}

std::vector<std::vector<int>> AllSubsets(const PoolCosts& pool) {
  std::vector<std::vector<int>> subsets;
  for (uint32_t mask = 1; mask < 1u << pool.processors.size(); ++mask) {
    std::vector<int> processors;
    for (size_t d = 0; d < pool.processors.size(); ++d)
      if (mask >> d & 1) processors.push_back(int(d));
    if (CanShareGroup(pool, processors) && TakesFirstOnes(pool, processors))
      subsets.push_back(std::move(processors));
  }
  return subsets;
}

// Adds the fastest of the processors, as many as each step says.
void AddFastest(const PoolCosts& pool, std::vector<int> order, std::vector<std::vector<int>>& subsets) {
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return UsWithHome(pool, a) < UsWithHome(pool, b); });
  for (size_t count = 1; count <= order.size(); count += count < kEachNumber ? 1 : count / 4) {
    if (count > kEachNumber && count + count / 4 > order.size()) count = order.size();
    std::vector<int> processors(order.begin(), order.begin() + int(count));
    std::sort(processors.begin(), processors.end());
    if (std::find(subsets.begin(), subsets.end(), processors) == subsets.end())
      subsets.push_back(std::move(processors));
  }
}

std::vector<std::vector<int>> FastestSubsets(const PoolCosts& pool) {
  std::vector<std::vector<int>> subsets;
  for (std::vector<int>& processors : FullSets(pool)) AddFastest(pool, std::move(processors), subsets);
  return subsets;
}

// By the first processor of each hardware: all of it, ascending.
std::map<int, std::vector<int>> ByUnit(const PoolCosts& pool) {
  std::map<int, std::vector<int>> units;
  for (int d = 0; d < int(pool.processors.size()); ++d) units[FirstOfUnit(pool, d)].push_back(d);
  return units;
}

bool Same(const Placement& a, const Placement& b) {
  const auto same_share = [](double x, double y) { return std::abs(x - y) < kSameShare; };
  return a.split == b.split && a.processors == b.processors && a.owners == b.owners &&
         std::equal(a.shares.begin(), a.shares.end(), b.shares.begin(), same_share);
}

}  // namespace

bool SameTimes(const ProcessorCosts& a, const ProcessorCosts& b) {
  return a.layers == b.layers && a.link == b.link && a.memory == b.memory && a.co_run == b.co_run;
}

bool Alike(const ProcessorCosts& a, const ProcessorCosts& b) {
  return SameTimes(a, b) && a.power == b.power && a.unit.empty() && b.unit.empty();
}

double SlowedBy(const PoolCosts& pool, const std::vector<int>& processors, int processor) {
  const auto& co_run = pool.processors[size_t(processor)].co_run;
  const bool slowed = co_run && std::any_of(processors.begin(), processors.end(), [&](int other) {
                        const auto& others = pool.processors[size_t(other)].co_run;
                        return other != processor && others && others->memory == co_run->memory;
                      });
  return slowed ? co_run->slowed : 1;
}

std::vector<double> SharesOf(const PoolCosts& pool, const std::vector<int>& processors, size_t first,
                             size_t last) {
  std::vector<double> shares;
  for (int d : processors)
    shares.push_back(
        1 / std::max(1e-3, SlowedBy(pool, processors, d) * CommonUs(pool, processors, d, first, last)));
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& s : shares) s /= all;
  return shares;
}

std::vector<int> OneOfEachUnit(const PoolCosts& pool) {
  std::vector<int> processors;
  for (const auto& [first, same] : ByUnit(pool))
    processors.push_back(first == 0 ? 0 : *std::min_element(same.begin(), same.end(), [&](int a, int b) {
      return UsWithHome(pool, a) < UsWithHome(pool, b);
    }));
  std::sort(processors.begin(), processors.end());
  return processors;
}

std::vector<std::vector<int>> FullSets(const PoolCosts& pool) {
  std::vector<std::vector<int>> sets{{}};
  for (const auto& [first, same] : ByUnit(pool)) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& set : sets)
      for (const int processor : same) {
        longer.push_back(set);
        longer.back().push_back(processor);
      }
    sets = std::move(longer);
    if (sets.size() > kMostFullSets) return {OneOfEachUnit(pool)};
  }
  for (std::vector<int>& set : sets) std::sort(set.begin(), set.end());
  return sets;
}

std::vector<std::vector<int>> ProcessorSets(const PoolCosts& pool) {
  return pool.processors.size() <= kAllSubsets ? AllSubsets(pool) : FastestSubsets(pool);
}

bool AddPlacement(const Placement& placement, std::vector<Placement>& placements) {
  const bool known = std::any_of(placements.begin(), placements.end(),
                                 [&](const Placement& p) { return Same(p, placement); });
  if (!known) placements.push_back(placement);
  return !known;
}

std::vector<Placement> PlacementsOf(const PoolCosts& pool) {
  std::vector<Placement> placements{WholeOn(0)};
  const size_t layers = pool.processors[0].layers.size(), half = HalfWay(pool);
  for (int d = 1; d < int(pool.processors.size()); ++d)
    if (TakesFirstOnes(pool, {d})) AddPlacement(WholeOn(d), placements);
  for (const std::vector<int>& processors : ProcessorSets(pool)) {
    if (processors.size() < 2) continue;
    for (const SplitAxis split : {SplitAxis::kRows, SplitAxis::kChannels})
      for (const auto& [first, last] : {std::pair<size_t, size_t>{0, layers}, {0, half}, {half, layers}})
        if (first < last)
          AddPlacement({split, processors, SharesOf(pool, processors, first, last)}, placements);
  }
  return placements;
}

}  // namespace mete
