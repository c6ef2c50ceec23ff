#include "plan/pool/stages.h"

#include <algorithm>
#include <numeric>

#include "plan/pool/placements.h"

namespace mete {
namespace {

// The most combinations of team counts over all kinds. This value is a guess: six kinds have 64, 64 equal
// processors 128, 64 processors of four kinds as 12 teams 162.
constexpr size_t kMostCounts = 170;
constexpr size_t kFewProcessors = 6;  // as in placements.cc

size_t Counts(const std::vector<ProcessorKind>& kinds) {
  return std::accumulate(kinds.begin(), kinds.end(), size_t{1},
                         [](size_t n, const ProcessorKind& k) { return n * size_t(k.teams + 1); });
}

int Teams(const TeamCounts& teams) { return std::accumulate(teams.begin(), teams.end(), 0); }

// Returns all combinations of counts in lexicographic order, one digit per kind.
std::vector<TeamCounts> AllCounts(const std::vector<ProcessorKind>& kinds) {
  std::vector<TeamCounts> all{{}};
  for (const ProcessorKind& kind : kinds) {
    std::vector<TeamCounts> longer;
    for (const TeamCounts& counts : all)
      for (int n = 0; n <= kind.teams; ++n) {
        longer.push_back(counts);
        longer.back().push_back(n);
      }
    all = std::move(longer);
  }
  return all;
}

// Returns stages of one kind: one, two, three teams, then growing by a half: 1 2 3 4 6 9 13 ...
std::vector<TeamCounts> OfOneKind(const std::vector<ProcessorKind>& kinds) {
  std::vector<TeamCounts> all;
  for (size_t k = 0; k < kinds.size(); ++k)
    for (int n = 1; n <= kinds[k].teams; n += std::max(1, n / 2)) {
      all.emplace_back(kinds.size(), 0);
      all.back()[k] = n;
    }
  return all;
}

}  // namespace

std::vector<ProcessorKind> KindsOf(const PoolCosts& pool) {
  std::vector<ProcessorKind> kinds{{}};
  for (int d = 1; d < int(pool.processors.size()); ++d) {
    ProcessorKind& last = kinds.back();
    if (kinds.size() > 1 && Alike(pool.processors[size_t(last.first)], pool.processors[size_t(d)]))
      ++last.teams;
    else kinds.push_back({d});
  }
  std::vector<int> processors;
  for (const ProcessorKind& kind : kinds) processors.push_back(kind.teams);
  while (Counts(kinds) > kMostCounts) {
    const auto most = std::max_element(kinds.begin(), kinds.end(),
                                       [](const auto& a, const auto& b) { return a.teams < b.teams; });
    if (most->teams < 2) break;
    ++most->team;
    most->teams = processors[size_t(most - kinds.begin())] / most->team;
  }
  return kinds;
}

bool CanServe(const TeamCounts& teams, const std::vector<ProcessorKind>& kinds, const PoolCosts& pool) {
  std::vector<int> first;
  for (size_t k = 0; k < kinds.size(); ++k) {
    if (teams[k] > kinds[k].teams) return false;
    if (teams[k] > 0) first.push_back(kinds[k].first);
  }
  return CanShareGroup(pool, first);
}

std::vector<Stage> StagesOf(const PoolCosts& pool, const std::vector<ProcessorKind>& kinds) {
  std::vector<Stage> stages;
  for (const TeamCounts& teams :
       pool.processors.size() <= kFewProcessors ? AllCounts(kinds) : OfOneKind(kinds)) {
    if (Teams(teams) == 0) continue;
    if (!CanServe(teams, kinds, pool)) continue;
    int processors = 0;
    for (size_t k = 0; k < kinds.size(); ++k) processors += teams[k] * kinds[k].team;
    if (processors == 1) stages.push_back({teams, SplitAxis::kNone});
    else
      for (const SplitAxis split : {SplitAxis::kRows, SplitAxis::kChannels}) stages.push_back({teams, split});
  }
  return stages;
}

Placement PlacementOf(const Stage& stage, const TeamCounts& taken, const std::vector<ProcessorKind>& kinds,
                      const PoolCosts& pool) {
  std::vector<int> processors;
  for (size_t k = 0; k < kinds.size(); ++k)
    for (int i = 0; i < stage.teams[k] * kinds[k].team; ++i)
      processors.push_back(kinds[k].first + taken[k] * kinds[k].team + i);
  if (stage.split == SplitAxis::kNone) return WholeOn(processors[0]);
  return {stage.split, processors, SharesOf(pool, processors, 0, pool.processors[0].layers.size())};
}

}  // namespace mete
