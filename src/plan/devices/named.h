// What others do, for comparison, over the same costs and the same shares:
//
//   alone         the best single device
//   layerwise     MoDNN: every layer for itself, equal rows on all devices, gathered and scattered again by
//                 the caller
//   uniform       DeepThings: the first layers fused, equal rows on all devices, the rest on the caller; how
//                 many is what takes least
//   neurosurgeon  the first layers on the caller, the rest on another device; which and where is what takes
//                 least by regressions (regression.h); so is what it predicts
//   legion        Legion: rows on all devices in proportion to their speeds, gathered and scattered between
//                 groups; the segmentation with the least sum of T[i,j]; then its wild card: of the best
//                 plan, and the one with the most promising pair of groups merged,
//                 the one that is measured to be faster
//   fss           full search: as legion, by the measured times of every group that there could be
//   fss-pruned    its plan with fewer runs, ours: a group is measured when no other plan can be faster, were
//                 all groups that are not yet measured to take a share of what is predicted that is less than
//                 any other did
//   dynamic       ours (plan_for.h)
//
// alone and ours go by the objective; the others, as in their papers, by the time of a request.
//
// Groups of the others do not begin with a join (partition/layers.h): in their papers it is no layer.
//
// Sources: systems.md, 3. The papers leave open what becomes of layers without rows; here the device with the
// largest share has them whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/devices/dynamic.h"
#include "plan/devices/objective.h"

namespace mete {

// What a plan takes where it runs, in microseconds; also one of some of the layers.
using MeasurePlan = std::function<double(const DevicesPlan&)>;

const std::vector<std::string>& DevicePlanners();  // those names, in that order

// With its period and joules, as PlanDevicesFor(). `measured`: how many plans were. Error for another name.
DevicesPlan PlanDevicesBy(const std::string& planner, const Graph& graph, const PoolCosts& pool,
                          const MeasurePlan& measure, int* measured = nullptr,
                          DevicesObjective objective = DevicesObjective::kLatency);

// The best single device. Error where energy is asked for and a device has no power figures.
DevicesPlan PlanBestAlone(DevicesObjective objective, const Graph& graph, const PoolCosts& pool);

}  // namespace mete
