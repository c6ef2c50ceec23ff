// Makes plans for several processors of groups and placements that a planner has chosen.
#pragma once

#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "plan/pool/group_costs.h"

namespace mete {

// Layers [begin, end) with a placement; without layers the values only move.
struct Segment {
  int begin, end;
  Placement placement;
};

// Returns the plan of segments that follow each other, with what the costs predict for it. The caller gathers
// the graph's outputs if the segments include the last layer.
Plan PlanOf(PoolModel& model, const std::vector<Segment>& segments);

// Returns the plan with the same groups and placements, and with what these costs predict for it: for example
// costs that were corrected after the plan was made. RatePlan() fills in its period and joules.
Plan PredictedWith(const PoolCosts& pool, const Graph& graph, Plan plan);

}  // namespace mete
