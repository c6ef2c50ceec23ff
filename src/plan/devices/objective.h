// What a plan for several devices is to have least of, and how much of each a plan has.
//
//   latency      microseconds from a request to its outputs
//   throughput   microseconds from one request to the next where they follow each other without a pause: the
//                period
//   energy       joules of a request
#pragma once

#include <string>
#include <vector>

#include "plan/devices/devices_plan.h"
#include "plan/devices/exchange.h"

namespace mete {

enum class DevicesObjective { kLatency, kThroughput, kEnergy };

const std::vector<std::string>& DevicesObjectives();  // their names, in that order
// Error that names `where`
DevicesObjective ParseDevicesObjective(const std::string& name, const std::string& where);

// What a request occupies: a device, its link towards the network, and the one from there, messages included.
struct DeviceLoad {
  double compute_us = 0, up_us = 0, down_us = 0;
};
// by device of the pool
std::vector<DeviceLoad> LoadsOf(const Graph& graph, const DevicesPlan& plan, const PoolCosts& pool);

// Of one message on the links of both ends.
void AddLoad(const Transfer& transfer, const PoolCosts& pool, std::vector<DeviceLoad>& loads);

// What the busiest resource has to do for a request. Requests that follow each other cannot end more often,
// and nearly do where each resource goes on with the next request while it waits for its part of this one.
double PeriodUs(const std::vector<DeviceLoad>& loads);

// The devices that are on for a plan: the caller's own, and those that have a part of some group. Ascending.
std::vector<int> DevicesOn(const DevicesPlan& plan);

// Error where a device has no power figures.
void CheckPower(const PoolCosts& pool);

// Of a request that takes `us`: the idle power of every device that is on (DevicesOn) for all of that time,
// for each what it takes beyond while it computes, and of each byte what both links take. Other devices are
// off. Error as CheckPower().
double JoulesOf(const Graph& graph, const DevicesPlan& plan, const PoolCosts& pool, double us);

// Fills in what follows from the groups: period_us, and joules where the pool has power figures.
void RatePlan(DevicesPlan& plan, const Graph& graph, const PoolCosts& pool);

// The figure itself, as a plan predicts it: microseconds, or joules.
double FigureOf(const DevicesPlan& plan, DevicesObjective objective);

}  // namespace mete
