// The devices of a pool by their kinds, and the sets of them that may be a pipeline's stage.
#pragma once

#include <vector>

#include "costs/pool.h"
#include "plan/devices/placement.h"

namespace mete {

// Neighbours alike, taken by teams; the caller's own device is a kind of its own.
struct DeviceKind {
  int first = 0;
  int teams = 1;
  int team = 1;  // devices of each
};
std::vector<DeviceKind> KindsOf(const PoolCosts& pool);

// So many teams of each kind.
using TeamCounts = std::vector<int>;

struct Stage {
  TeamCounts teams;
  SplitAxis split = SplitAxis::kNone;
};

// Of up to six devices every count of every kind, else one device, or a number of teams of one kind; as a
// whole, by rows and by channels.
std::vector<Stage> StagesOf(const PoolCosts& pool, const std::vector<DeviceKind>& kinds);

// The stage on the first devices of each kind that are left when `taken` are.
Placement PlacementOf(const Stage& stage, const TeamCounts& taken, const std::vector<DeviceKind>& kinds,
                      const PoolCosts& pool);

}  // namespace mete
