// Searches the plan for several processors with the shortest period (objective.h): while some processors
// compute one request, other processors compute the next one.
//
// A stage of a pipeline is a group of fused layers on processors that no other stage uses, divided by rows or
// channels in proportion to their speeds. Therefore a processor's computing and the data that its link
// receives belong to one stage, and the data that its link sends belong to the next stage; the period is the
// largest of these loads. The caller's link is an exception: it also sends the inputs and receives the
// outputs. The dynamic program has as its state the boundary between layers, the number of processors of each
// kind that are taken, and the processors of the last stage. A state keeps every label (bottleneck and loads
// of the caller's link) that no other label dominates. The search is exact among such pipelines if there are
// at most six processors. With more processors a stage is one processor or several processors of one kind,
// and if there would be too many states, processors of a kind are taken in teams.
//
// Processors that are the same hardware (ProcessorCosts::unit) are in no two stages, either.
//
// A plan in which stages share processors may have a shorter period. Therefore PlanShortestPeriod() also
// considers the fastest plan for a single request and every single processor, and its plan never has a longer
// period than these.
//
// Processors of one memory that slow each other (CoRun) do so in different requests as well. The search looks
// away from it, and its pipeline is taken only if it has the shorter period with it.
//
// Source: EdgePipe and PICO (systems.md, 3) for pipelines of groups over sets of processors. The load of the
// caller's link, kinds and teams are not from these papers.
#pragma once

#include "costs/pool.h"
#include "plan/plan.h"

namespace mete {

// Returns the best pipeline with a period below `below_us`; a plan without groups if there is none.
Plan PlanPipeline(const Graph& graph, const PoolCosts& pool, double below_us);

// Returns the best of all plans that are considered. Error if `pool` does not fit the graph.
Plan PlanShortestPeriod(const Graph& graph, const PoolCosts& pool);

}  // namespace mete
