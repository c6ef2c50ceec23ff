#include "plan/devices/devices_plan.h"

namespace mete {

std::set<int> UsedDevices(const DevicesPlan& plan) {
  std::set<int> used;
  for (const PlannedGroup& group : plan.groups)
    for (const DeviceShare& share : group.shares) used.insert(share.device);
  return used;
}

void NamePlan(DevicesPlan& plan, const Graph& graph, const PoolCosts& pool, const std::string& planner) {
  plan.model = graph.name, plan.planner = planner;
  for (const DeviceCosts& device : pool.devices) plan.devices.push_back(device.name);
  for (const Layer& layer : LayersOf(graph)) plan.layers.push_back(layer.name);
}

}  // namespace mete
