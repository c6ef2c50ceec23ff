#include "simulate/pool/estimate_pool.h"

#include <algorithm>
#include <vector>

#include "costs/describe.h"
#include "costs/energy_curves.h"
#include "costs/estimate.h"
#include "passes/pass.h"
#include "plan/cores/cores.h"
#include "plan/pool/layer_costs.h"
#include "simulate/simulated.h"

namespace mete {
namespace {

bool Computes(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& n) { return DescribeNode(graph, n).computes(); });
}

double EstimateUs(Graph graph, const MachineFile& file) {
  RunPasses(graph);
  if (!Computes(graph)) return 0;
  const Costs costs = EstimateCosts(graph, file, PhysicalCores(file.machine));
  return PredictedUs(PlanSimulated(graph, file, costs, "adaptive"));
}

// Returns the power as if all cores were busy at their highest clock whenever the processor computes, which
// is a little more than they take.
PowerCosts PowerOf(const DescribedDevice& device, const MachineFile& machine) {
  PowerCosts power;
  for (size_t c = 0; c < machine.clusters.size(); ++c) {
    const ClusterFigures& figures = machine.clusters[c];
    power.idle_w += figures.idle_w.value;
    power.compute_w += double(FirstThreads(machine.machine.clusters[c]).size()) * figures.active_w.value;
  }
  if (device.idle_w) power.idle_w = device.idle_w->value;
  power.sent_joules_per_byte = device.sent_nj_per_byte.value * 1e-9;
  power.received_joules_per_byte = device.received_nj_per_byte.value * 1e-9;
  return power;
}

}  // namespace

PoolCosts EstimatePool(const Graph& graph, const PoolFile& file) {
  const LayerGraphs graphs(graph);
  std::vector<std::vector<LayerCost>> of_machine;
  for (const MachineFile& machine : file.machines) {
    of_machine.emplace_back();
    for (const Layer& layer : LayersOf(graph))
      of_machine.back().push_back(
          graphs.CostOf(layer, [&](const Graph& share) { return EstimateUs(share, machine); }));
  }
  PoolCosts pool;
  for (const DeviceInPool& in_pool : file.devices) {
    const DescribedDevice& device = in_pool.described.value();
    pool.processors.push_back({in_pool.name,
                               {device.latency_us.value, device.message_us.value, device.up_mbit_per_s.value,
                                device.down_mbit_per_s.value},
                               of_machine[size_t(device.machine)],
                               PowerOf(device, file.machines[size_t(device.machine)])});
  }
  return pool;
}

}  // namespace mete
