// The devices of a pool by their kinds, and the sets of them that may be a pipeline's stage.
#pragma once

#include <vector>

#include "costs/pool.h"
#include "plan/placement.h"

namespace mete {

// Consecutive equal devices, which are taken in teams. The caller's own device is a separate kind.
struct DeviceKind {
  int first = 0;
  int teams = 1;
  int team = 1;  // devices per team
};
std::vector<DeviceKind> KindsOf(const PoolCosts& pool);

// The number of teams of each kind.
using TeamCounts = std::vector<int>;

struct Stage {
  TeamCounts teams;
  SplitAxis split = SplitAxis::kNone;
};

// Returns the stages: with up to six devices every count of every kind, otherwise one device or a number of
// teams of one kind; each undivided (one device), by rows and by channels.
std::vector<Stage> StagesOf(const PoolCosts& pool, const std::vector<DeviceKind>& kinds);

// Returns the placement of the stage on the first devices of each kind that are free after `taken`.
Placement PlacementOf(const Stage& stage, const TeamCounts& taken, const std::vector<DeviceKind>& kinds,
                      const PoolCosts& pool);

}  // namespace mete
