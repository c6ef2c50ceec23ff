// Placements in which the branches of a fork lie on processors of their own, so that a group may compute them
// side by side.
//
// Two live values of a boundary belong to one branch if both need one of the layers between the fork and the
// boundary. Of all points before the boundary, the fork is the one that gives the most branches. A group may
// begin anywhere. The values that a processor owns determine which layers of the group it computes
// (share_needs.h): a layer before the fork that two processors need is computed by both of them.
#pragma once

#include <vector>

#include "plan/pool/group_costs.h"

namespace mete {

// Returns the placements of kind kBranches that the planner weighs at a boundary. There are none if fewer
// than two branches are live, and none if a value has an unknown shape, because values may have to be sent.
// There are none, either, if the layer behind the boundary continues one branch alone and no join follows
// that layer: a group may as well end where that branch does, and the planner has fewer states. (With these
// placements, too, plans of Inception v3 take up to 0.2 % less, and planning on five processors takes up to
// 1.65 instead of 1.45 times as long as without any branches.) For each of ProcessorSets() the list has the
// assignments of branches to its processors for which the slowest processor takes the least time, the best
// one first.
std::vector<Placement> BranchPlacements(PoolModel& model, int boundary);

// Returns all placements of kind kBranches that `values` values may have.
std::vector<Placement> AllOwners(size_t values, size_t processors);

// Returns all placements of kind kBranches at a boundary whose processors can compute together, for an
// exhaustive search, if AllOwners() has at most 256; else BranchPlacements().
std::vector<Placement> AllBranches(PoolModel& model, int boundary);

}  // namespace mete
