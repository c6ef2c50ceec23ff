#include "plan/pool/instead.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "plan/pool/placements.h"
#include "plan/pool/segments.h"

namespace mete {
namespace {

// The most processors of which each is tried as the only one, and all together. This value is a guess: a chip
// has two or three, and a longer list is not read.
constexpr size_t kMostProcessors = 4;

// Returns the sets of processors over which the group may be divided instead: its own, and those with another
// type of the same hardware; of an undivided group the first ones of all processors.
std::vector<std::vector<int>> SetsFor(const Placement& own, const PoolModel& model) {
  std::vector<std::vector<int>> sets = FullSets(model.pool());
  const auto units = [&](const std::vector<int>& processors) {
    std::set<int> first;
    for (const int processor : processors) first.insert(FirstOfUnit(model.pool(), processor));
    return first;
  };
  if (own.processors.size() < 2) {
    for (std::vector<int>& set : sets) set.resize(std::min(set.size(), kMostProcessors));
    std::sort(sets.begin(), sets.end());
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    return sets;
  }
  std::erase_if(sets, [&](const std::vector<int>& set) {
    return set == own.processors || units(set) != units(own.processors);
  });
  sets.push_back(own.processors);
  return sets;
}

std::vector<Placement> OthersThan(const Placement& own, const PoolModel& model, const PlannedGroup& group) {
  const size_t few = std::min(model.pool().processors.size(), kMostProcessors);
  std::vector<Placement> others;
  for (size_t d = 0; d < few; ++d) others.push_back(WholeOn(int(d)));
  for (const std::vector<int>& processors : SetsFor(own, model)) {
    if (processors.size() < 2) continue;
    for (const SplitAxis axis : {SplitAxis::kRows, SplitAxis::kChannels})
      if (axis != own.split || processors != own.processors)
        others.push_back(
            {axis, processors, SharesOf(model.pool(), processors, size_t(group.first), size_t(group.last))});
  }
  std::erase(others, own);
  return others;
}

}  // namespace

std::vector<std::vector<Instead>> InsteadOf(PoolModel& model, const Plan& plan) {
  std::vector<Segment> segments;
  for (const PlannedGroup& group : plan.groups)
    segments.push_back({group.first, group.last, group.placement});
  std::vector<std::vector<Instead>> all(plan.groups.size());
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const PlannedGroup& group = plan.groups[g];
    if (group.first == group.last || model.IsBeforeJoin(group.last)) continue;
    for (Placement& other : OthersThan(group.placement, model, group)) {
      segments[g].placement = other;
      if (const double us = PlanOf(model, segments).predicted_us;
          std::isfinite(us))  // else one lacks a layer
        all[g].push_back({std::move(other), us});
    }
    segments[g].placement = group.placement;
    std::stable_sort(all[g].begin(), all[g].end(),
                     [](const Instead& a, const Instead& b) { return a.us < b.us; });
  }
  return all;
}

}  // namespace mete
