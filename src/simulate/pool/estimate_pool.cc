#include "simulate/pool/estimate_pool.h"

#include <algorithm>
#include <any>
#include <vector>

#include "costs/describe.h"
#include "costs/energy_curves.h"
#include "costs/estimate.h"
#include "costs/gpu_estimate.h"
#include "machine/gpu_entry.h"
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

// Returns the power of a GPU as of its device, whose power without work is that of its cores.
PowerCosts PowerOfGpu(const GpuFigures& figures) { return {figures.idle_w.value, figures.active_w.value}; }

// the rate of what takes no time for its bytes; any rate of this size does
constexpr double kAtOnce = 1e12;

// Returns the link of a GPU to the memory that it shares with the cores.
LinkCosts MapsOf(const GpuFigures& figures) {
  const double us_per_mib = figures.map_us_per_mib.value,
               mbit_per_s = us_per_mib > 0 ? 8.0 * (1 << 20) / us_per_mib : kAtOnce;
  return {figures.wait_us.value + figures.wake_us.value, figures.map_us.value, mbit_per_s, mbit_per_s};
}

class PoolEstimator {
 public:
  PoolEstimator(const Graph& graph, const PoolFile& file)
      : file_(file), layers_(LayersOf(graph)), graphs_(graph), of_cpu_(file.machines.size()) {}

  PoolCosts Do() {
    for (const DeviceInPool& device : file_.devices) {
      if (device.processors.empty()) AddDevice(device);
      for (const ProcessorEntry& processor : device.processors) AddProcessor(device, processor);
    }
    const std::vector<std::string> units = UnitsOf(file_);
    for (size_t p = 0; p < units.size(); ++p) pool_.processors[p].unit = units[p];
    return std::move(pool_);
  }

 private:
  std::vector<LayerCost> Layers(const GraphUs& us_of) const {
    std::vector<LayerCost> costs;
    for (const Layer& layer : layers_) costs.push_back(graphs_.CostOf(layer, us_of));
    return costs;
  }

  const MachineFile& MachineOf(const DeviceInPool& device) const {
    return file_.machines[size_t(device.described.value().machine)];
  }

  // Returns the layers on all cores of the device; devices of one machine file have the same.
  const std::vector<LayerCost>& CpuLayers(const DeviceInPool& device) {
    std::vector<LayerCost>& known = of_cpu_[size_t(device.described.value().machine)];
    if (known.empty())
      known = Layers([&](const Graph& share) { return EstimateUs(share, MachineOf(device)); });
    return known;
  }

  void AddDevice(const DeviceInPool& device) {
    const DescribedDevice& d = device.described.value();
    pool_.processors.push_back(
        {device.name,
         {d.latency_us.value, d.message_us.value, d.up_mbit_per_s.value, d.down_mbit_per_s.value},
         CpuLayers(device),
         PowerOf(d, MachineOf(device))});
  }

  void AddProcessor(const DeviceInPool& device, const ProcessorEntry& processor) {
    const MachineFile& machine = MachineOf(device);
    if (processor.kind == "cpu") {
      pool_.processors.push_back({processor.name,
                                  {0, 0, kAtOnce, kAtOnce},
                                  CpuLayers(device),
                                  PowerOf(device.described.value(), machine)});
      if (!machine.gpus.empty())
        pool_.processors.back().co_run = CoRun{device.name, machine.gpus[0].figures.cpu_slowed.value};
      return;
    }
    const GpuFigures& gpu = machine.gpus.at(0).figures;
    const auto entry = std::any_cast<GpuEntry>(processor.settings);
    ProcessorCosts costs{processor.name, MapsOf(gpu),
                         Layers([&](const Graph& share) { return EstimateOnGpu(share, gpu, entry); }),
                         PowerOfGpu(gpu)};
    costs.share_us = gpu.drained_launch_us.value - gpu.launch_us.value;  // a layer has the latter
    costs.co_run = CoRun{device.name, gpu.gpu_slowed.value};
    pool_.processors.push_back(std::move(costs));
  }

  static double EstimateOnGpu(Graph graph, const GpuFigures& gpu, const GpuEntry& entry) {
    RunPasses(graph);
    return EstimateGpuUs(graph, gpu, entry);
  }

  const PoolFile& file_;
  const std::vector<Layer> layers_;
  const LayerGraphs graphs_;
  std::vector<std::vector<LayerCost>> of_cpu_;  // by machine; empty: not yet known
  PoolCosts pool_;
};

}  // namespace

PoolCosts EstimatePool(const Graph& graph, const PoolFile& file) { return PoolEstimator(graph, file).Do(); }

}  // namespace mete
