// A plan for several devices in virtual time: messages wait for each other on their links, and each device goes on as soon as it has what
// it needs, without waiting for others. So it mostly takes less than the plan predicts, where all wait for the slowest at each group's end.
// Serial equivalent:
//
//     for each group, for each device of its placement: wait for what the devices of the group before send of its inputs, then compute
//     in the end, whoever has outputs sends them to the caller
//
// A device sends when it has computed; what it computes and what it sends go on at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/devices/devices_plan.h"

namespace mete {

struct SimulatedDevice {
  std::string name;
  double busy_us = 0;  // computing
  int64_t sent_bytes = 0, received_bytes = 0;
  int messages = 0;    // received
};

struct DevicesSimulation {
  double us = 0;  // until the caller has the outputs
  std::vector<SimulatedDevice> devices;
};

// One request, with nothing else on the network. The plan is one of PlanDevices() for this graph and pool, or one like it.
DevicesSimulation SimulateDevices(const Graph& graph, const DevicesPlan& plan, const PoolCosts& pool);

}  // namespace mete
