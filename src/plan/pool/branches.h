// Placements in which the branches of a fork lie on processors of their own, so that a group may compute them
// side by side.
//
// Two live values of a boundary belong to one branch where both need one of the layers between the fork and
// the boundary; the fork is where this makes most branches. A group may begin anywhere. Which of its layers a
// processor computes follows from the values that the processor owns (share_needs.h): layers before the fork,
// which both of two processors need, both of them compute.
#pragma once

#include <vector>

#include "plan/pool/group_costs.h"

namespace mete {

// The placements of kind kBranches that the planner weighs at a boundary. There are none where fewer than two
// branches are live, and none where a value has an unknown shape, because values may have to be sent. There
// are none, either, where the layer behind the boundary goes on with one branch alone, and no join follows
// that layer: a group may as well end where that branch does, and the planner has fewer states. (Counted:
// with these, too, plans of Inception v3 take up to 0.2 % less, and planning on five processors takes up
// to 1.65 times as long as without any branches instead of 1.45.) Of each of ProcessorSets() the list has the
// assignments of branches to its processors in which the processor that takes longest takes least, the best
// one first.
std::vector<Placement> BranchPlacements(PoolModel& model, int boundary);

}  // namespace mete
