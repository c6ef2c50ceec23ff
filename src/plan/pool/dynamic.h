// The planner for several processors. It chooses groups of fused layers, and for each group the processors
// that share it and its placement, with the least predicted time, or another price of a request that is a sum
// over its groups.
//
// The planner is a dynamic program that is exact for its candidates: every segmentation of the layers into
// groups, and for each group every placement of a list. Where the branches of a fork end, the list also has
// placements in which the branches' values are on processors of their own (branches.h). A group may end in
// such a placement if at least two processors compute something in it, and right before a join only in such a
// one (PoolModel::IsBeforeJoin). Between two groups the values have the placement of the first group, and
// only the parts that a processor lacks are sent (exchange.h). A value that a group does not use gets the
// placement of this group too. The state is a boundary between layers and the placement of the values there;
// a step is a group. Plans that leave a processor out or use only one processor are ordinary candidates.
//
// The bounds that save most of the work are exact too: the cost of a group is computed only if a lower bound,
// from what its processors compute and must at least receive (group_costs.h), is not above the best known
// price.
//
// Source: Legion (systems.md, 3) for the costs of fused groups from single layers. The placement in the
// state, by which slices stay where they are, is not from Legion.
#pragma once

#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/pool/placements.h"
#include "plan/plan.h"

namespace mete {

// The price of a request, which the planner minimizes: `per_us` for each microsecond of the request, and, if
// `joules` is true, the energy of computing and sending, which needs power figures.
struct RequestPrice {
  double per_us = 1;
  bool joules = false;
};

// Which placements of kind kBranches there are at a boundary: none, BranchPlacements(), or AllBranches().
enum class Branches { kNone, kBest, kAll };

struct DynamicOptions {
  RequestPrice price = {};
  Branches branches = Branches::kBest;
};

// Returns the best plan with `placements` at every boundary, of which WholeOn(0) is the first. Error if
// `pool` does not fit the graph.
Plan PlanPool(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
              const DynamicOptions& options = {});
// Returns the best of the plans in which only `processors`, the caller's own among them, have a part of
// anything, though a placement may name others.
Plan PlanWithin(const Graph& graph, const PoolCosts& pool, const std::vector<Placement>& placements,
                const std::vector<int>& processors, const DynamicOptions& options);
// Returns the best plan with PlacementsOf(pool), and then with shares that fit the groups that were found
// (refine.h).
Plan PlanPool(const Graph& graph, const PoolCosts& pool, const DynamicOptions& options = {});

// A processor that a plan does not use, and the time of the best plan in which the processor has a part of at
// least one group. This plan has the placements of the first round (before refine.h). The time is infinite if
// none of them has the processor.
struct LeftOutProcessor {
  int processor = 0;
  double us = 0;
};

// The plan of PlanPool(), and the processors that it leaves out. Of several equal processors only the first
// is listed, because the others would have the same effect.
struct PlanAndLeftOut {
  Plan plan;
  std::vector<LeftOutProcessor> left_out;
};
PlanAndLeftOut PlanPoolAndLeftOut(const Graph& graph, const PoolCosts& pool);

// Returns, for each of `processors`, the time of the best plan with any of `placements` in which the
// processor has a part.
std::vector<double> UsWithProcessors(const Graph& graph, const PoolCosts& pool,
                                     const std::vector<Placement>& placements,
                                     const std::vector<int>& processors);

// Returns the plan with one group on one processor.
Plan PlanAlone(const Graph& graph, const PoolCosts& pool, int processor);

}  // namespace mete
