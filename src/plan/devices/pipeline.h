// The plan for several devices with the shortest period (objective.h): while some devices compute one
// request, others are at the next.
//
// A pipeline's stage is a group of fused layers on devices that no other stage has, divided by rows or
// channels in proportion to their speeds. So a device's computing and what its link brings are of one stage,
// and what its link sends of the next, and the period is the largest of these; but for the caller's link,
// which has the inputs to send and the outputs to get as well. Dynamic programming over the boundary between
// layers, how many devices of each kind are taken, and the last stage's devices; a state keeps every pair of
// bottleneck and load of the caller's link of which none is better in all. Exact among such pipelines, where
// there are few devices; of more than six a stage is one device, or so many of one kind, and where there
// would be too many states kinds are taken by teams.
//
// A plan in which stages share devices may be better still: the fastest plan for a single request and every
// single device are weighed too, so that no plan has a longer period than these.
//
// Source: EdgePipe and PICO (systems.md, 3) for pipelines of groups over sets of devices; the caller's link,
// kinds and teams are ours.
#pragma once

#include "plan/devices/devices_plan.h"

namespace mete {

// The best pipeline, if there is one whose period is below `below_us`; else a plan without groups.
DevicesPlan PlanPipeline(const Graph& graph, const PoolCosts& pool, double below_us);

// The best of all. Error where `pool` does not fit the graph.
DevicesPlan PlanShortestPeriod(const Graph& graph, const PoolCosts& pool);

}  // namespace mete
