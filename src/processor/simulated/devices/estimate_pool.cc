#include "processor/simulated/devices/estimate_pool.h"

#include <algorithm>
#include <vector>

#include "costs/describe.h"
#include "costs/energy_curves.h"
#include "costs/estimate.h"
#include "passes/pass.h"
#include "partition/layers.h"
#include "partition/share.h"
#include "plan/cores/cores.h"
#include "plan/devices/placement.h"
#include "processor/simulated/simulated.h"

namespace mete {
namespace {

bool Computes(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return DescribeNode(graph, n).computes(); });
}

double GraphUs(Graph graph, const MachineFile& file) {
  RunPasses(graph, true, {});
  if (!Computes(graph)) return 0;
  const Costs costs = EstimateCosts(graph, file, PhysicalCores(file.machine));
  return PredictedUs(PlanSimulated(graph, file, costs, "adaptive"));
}

class LayerEstimates {
 public:
  LayerEstimates(const Graph& graph, const MachineFile& file) : graph_(graph), file_(file), uses_(graph) {}

  // A line through what the whole and about half of it take: what is left where it comes to no rows is the least.
  LayerCost Of(const Layer& layer) const {
    double part = 1;
    const double us = ShareUs(layer, 1, part), half_us = ShareUs(layer, 2, part);
    return {us, part < 1 ? std::clamp((half_us - part * us) / (1 - part), 0.0, us) : us};
  }

 private:
  // Of the first rows of all that the layer gives, one of so many equal shares; `part` is how much of the last one that is.
  double ShareUs(const Layer& layer, int shares, double& part) const {
    std::vector<int> nodes;
    for (int n = layer.begin; n < layer.end; ++n) nodes.push_back(n);
    std::vector<ValuePart> wanted;
    for (ValueId id : BorderOf(graph_, uses_, nodes).outputs) {
      const Shape& shape = graph_.value(id).shape;
      const int axis = AxisOf(SplitAxis::kRows, shape);
      const bool divided = axis >= 0 && shape[axis] >= shares;
      wanted.push_back({id, divided ? Part::Of(axis, {0, shape[axis] / shares}) : Part::All()});
      part = divided ? double(shape[axis] / shares) / double(shape[axis]) : 1;
    }
    return wanted.empty() ? 0 : GraphUs(MakeShareGraph(graph_, nodes, wanted).graph, file_);
  }

  const Graph& graph_;
  const MachineFile& file_;
  const Uses uses_;
};

// As if all cores were busy at their highest clock whenever the device computes, which is a little more than it takes.
PowerCosts PowerOf(const DeviceEntry& device, const MachineFile& machine) {
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

PoolCosts EstimatePool(const Graph& graph, const DevicesFile& file) {
  std::vector<std::vector<LayerCost>> of_machine;
  for (const MachineFile& machine : file.machines) {
    const LayerEstimates estimates(graph, machine);
    of_machine.emplace_back();
    for (const Layer& layer : LayersOf(graph)) of_machine.back().push_back(estimates.Of(layer));
  }
  PoolCosts pool;
  for (const DeviceEntry& device : file.devices)
    pool.devices.push_back({device.name,
                            {device.latency_us.value, device.message_us.value, device.up_mbit_per_s.value, device.down_mbit_per_s.value},
                            of_machine[size_t(device.machine)],
                            PowerOf(device, file.machines[size_t(device.machine)])});
  return pool;
}

}  // namespace mete
