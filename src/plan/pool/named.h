// Planners of other systems, for comparison, with the same costs and the same shares:
//
//   alone         the best single processor
//   layerwise     MoDNN: every layer separately, with equal rows on all processors; the caller gathers and
//                 scatters the values between layers
//   uniform       DeepThings: the first layers fused with equal rows on all processors, the other layers on the
//                 caller; the number of fused layers is the one with the least time
//   neurosurgeon  the first layers on the caller, the other layers on another processor; the cut and the processor
//                 are those with the least time by regressions (regression.h), and so is the predicted time
//   legion        Legion: rows on all processors in proportion to their speeds, gathered and scattered between
//                 groups; the segmentation with the least sum of T[i,j]; then its wild card: of the best plan
//                 and the one with the most promising pair of groups merged, the one that is measured to be
//                 faster
//   fss           full search: as legion, with measured times of every possible group
//   fss-pruned    the plan of fss with fewer measurements (not from a paper): groups that are not measured
//                 count at 0.7 of their predicted time, or at the smallest measured ratio if it is lower; the
//                 groups of the best plan by these times are measured, until all of them are measured
//   network-to-processor   requests in turn, each whole on one of all processors (PlanInTurn); as a plan, which is of one
//                 request, that of the best single processor
//   layer-to-processor   every layer on the faster processor
//   mulayer       muLayer: channels of every layer, by times that are linear in operations; branches side by side
//   codl          CoDL: greedy chains, divided by a grid of ratios
//   exhaustive    the best plan of very many, on small graphs (exhaustive.h)
//   dynamic       Mete's own planner (plan_for.h)
//
// chip_planners.h says more about layer-to-processor, mulayer and codl, which use two processors at most.
//
// alone, network-to-processor and dynamic plan for the objective; the others, as in their papers, for the
// time of a request.
//
// Groups of the other planners do not begin with a join (partition/layers.h), which is no layer in their
// papers; behind branches that mulayer has side by side they do.
//
// Sources: systems.md, 3. The papers do not define the placement of layers without rows; here the processor
// with the largest share has them whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mete/pool.h"  // PoolPlanners(): the names above, in this order
#include "plan/pool/dynamic.h"
#include "plan/pool/objective.h"

namespace mete {

// Measures the time of a plan on the processors, in microseconds. The plan may cover some of the layers only.
using MeasurePlan = std::function<double(const Plan&)>;

// Returns the plan of a planner with its period and joules, as PlanPoolFor(). `measured` returns the
// number of measured plans. Error for an unknown name.
Plan PlanPoolBy(const std::string& planner, const Graph& graph, const PoolCosts& pool,
                const MeasurePlan& measure, int* measured = nullptr,
                PoolObjective objective = PoolObjective::kLatency);

// Returns the plan on the best single processor. Error if the objective is energy and a processor has no
// power figures.
Plan PlanBestAlone(PoolObjective objective, const Graph& graph, const PoolCosts& pool);

// Requests that go in turn to all processors, each as often as it is fast, and are computed whole there.
struct InTurn {
  // the whole model on each processor; of those that are the same hardware on the fastest one
  std::vector<Plan> plans;
  double period_us = 0;  // predicted: of the busiest processor or link, while processors slow each other
};
InTurn PlanInTurn(const Graph& graph, const PoolCosts& pool);

}  // namespace mete
