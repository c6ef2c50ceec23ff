#include "plan/devices/stages.h"

#include <algorithm>
#include <numeric>

#include "plan/devices/placements.h"

namespace mete {
namespace {

// The most combinations of team counts over all kinds. This value is a guess: six kinds have 64, 64 equal
// devices 128, 64 devices of four kinds as 12 teams 162.
constexpr size_t kMostCounts = 170;
constexpr size_t kFewDevices = 6;  // as in placements.cc

size_t Counts(const std::vector<DeviceKind>& kinds) {
  return std::accumulate(kinds.begin(), kinds.end(), size_t{1},
                         [](size_t n, const DeviceKind& k) { return n * size_t(k.teams + 1); });
}

int Teams(const TeamCounts& teams) { return std::accumulate(teams.begin(), teams.end(), 0); }

// Returns all combinations of counts in lexicographic order, one digit per kind.
std::vector<TeamCounts> AllCounts(const std::vector<DeviceKind>& kinds) {
  std::vector<TeamCounts> all{{}};
  for (const DeviceKind& kind : kinds) {
    std::vector<TeamCounts> longer;
    for (const TeamCounts& counts : all)
      for (int n = 0; n <= kind.teams; ++n) longer.push_back(counts), longer.back().push_back(n);
    all = std::move(longer);
  }
  return all;
}

// Returns stages of one kind: one, two, three teams, then growing by a half: 1 2 3 4 6 9 13 ...
std::vector<TeamCounts> OfOneKind(const std::vector<DeviceKind>& kinds) {
  std::vector<TeamCounts> all;
  for (size_t k = 0; k < kinds.size(); ++k)
    for (int n = 1; n <= kinds[k].teams; n += std::max(1, n / 2)) {
      all.emplace_back(kinds.size(), 0);
      all.back()[k] = n;
    }
  return all;
}

}  // namespace

std::vector<DeviceKind> KindsOf(const PoolCosts& pool) {
  std::vector<DeviceKind> kinds{{}};
  for (int d = 1; d < int(pool.devices.size()); ++d) {
    DeviceKind& last = kinds.back();
    if (kinds.size() > 1 && Alike(pool.devices[size_t(last.first)], pool.devices[size_t(d)])) ++last.teams;
    else kinds.push_back({d});
  }
  std::vector<int> devices;
  for (const DeviceKind& kind : kinds) devices.push_back(kind.teams);
  while (Counts(kinds) > kMostCounts) {
    const auto most = std::max_element(kinds.begin(), kinds.end(),
                                       [](const auto& a, const auto& b) { return a.teams < b.teams; });
    if (most->teams < 2) break;
    ++most->team;
    most->teams = devices[size_t(most - kinds.begin())] / most->team;
  }
  return kinds;
}

std::vector<Stage> StagesOf(const PoolCosts& pool, const std::vector<DeviceKind>& kinds) {
  std::vector<Stage> stages;
  for (const TeamCounts& teams : pool.devices.size() <= kFewDevices ? AllCounts(kinds) : OfOneKind(kinds)) {
    if (Teams(teams) == 0) continue;
    int devices = 0;
    for (size_t k = 0; k < kinds.size(); ++k) devices += teams[k] * kinds[k].team;
    if (devices == 1) stages.push_back({teams, SplitAxis::kNone});
    else
      for (const SplitAxis split : {SplitAxis::kRows, SplitAxis::kChannels}) stages.push_back({teams, split});
  }
  return stages;
}

Placement PlacementOf(const Stage& stage, const TeamCounts& taken, const std::vector<DeviceKind>& kinds,
                      const PoolCosts& pool) {
  std::vector<int> devices;
  for (size_t k = 0; k < kinds.size(); ++k)
    for (int i = 0; i < stage.teams[k] * kinds[k].team; ++i)
      devices.push_back(kinds[k].first + taken[k] * kinds[k].team + i);
  if (stage.split == SplitAxis::kNone) return WholeOn(devices[0]);
  return {stage.split, devices, SharesOf(pool, devices, 0, pool.devices[0].layers.size())};
}

}  // namespace mete
