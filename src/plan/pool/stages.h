// The processors of a pool by their kinds, and the sets of them that may be a pipeline's stage.
#pragma once

#include <vector>

#include "costs/pool.h"
#include "plan/placement.h"

namespace mete {

// Consecutive equal processors, which are taken in teams. The caller's own processor is a separate kind.
struct ProcessorKind {
  int first = 0;
  int teams = 1;
  int team = 1;  // processors per team
};
std::vector<ProcessorKind> KindsOf(const PoolCosts& pool);

// The number of teams of each kind.
using TeamCounts = std::vector<int>;

// Returns whether the pool has so many teams, none of them on the hardware of another one.
bool CanServe(const TeamCounts& teams, const std::vector<ProcessorKind>& kinds, const PoolCosts& pool);

struct Stage {
  TeamCounts teams;
  SplitAxis split = SplitAxis::kNone;
};

// Returns the stages: with up to six processors every count of every kind, otherwise one processor or a
// number of teams of one kind; each undivided (one processor), by rows and by channels.
std::vector<Stage> StagesOf(const PoolCosts& pool, const std::vector<ProcessorKind>& kinds);

// Returns the placement of the stage on the first processors of each kind that are free after `taken`.
Placement PlacementOf(const Stage& stage, const TeamCounts& taken, const std::vector<ProcessorKind>& kinds,
                      const PoolCosts& pool);

}  // namespace mete
