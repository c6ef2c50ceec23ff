#include "plan/devices/devices_plan.h"

namespace mete {

void NamePlan(DevicesPlan& plan, const Graph& graph, const PoolCosts& pool, const std::string& planner) {
  plan.model = graph.name, plan.planner = planner;
  for (const DeviceCosts& device : pool.devices) plan.devices.push_back(device.name);
  for (const Layer& layer : LayersOf(graph)) plan.layers.push_back(layer.name);
}

}  // namespace mete
