#include "costs/estimate.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "graph/flops.h"
#include "schedule/policy.h"

namespace mete {
namespace {

// Three hours per run on the slowest core. A file with longer times must be wrong, and with this bound sums
// of times fit into 64 bits.
constexpr double kMostNs = 1e13;

class Estimator {
 public:
  Estimator(const Graph& graph, const MachineFile& file, const std::vector<int>& cores)
      : graph_(graph), file_(file), cores_(cores) {
    const std::vector<int> physical = PhysicalCores(file.machine);
    const std::string& name = file.machine.name;
    if (cores.size() != physical.size())
      Invalid(name, "wrong number of clusters; got {}, expected {}", cores.size(), physical.size());
    for (size_t c = 0; c < cores.size(); ++c)
      if (cores[c] < 0 || cores[c] > physical[c])
        Invalid(name, "wrong number of cores of cluster '{}'; got {}, expected 0 to {}",
                file.machine.clusters[c].name, cores[c], physical[c]);
    if (std::accumulate(cores.begin(), cores.end(), 0) == 0)
      Invalid(name, "no cores to compute on; try --cores with some");
  }

  Costs Do() const {
    Costs costs{cores_};
    costs.memory_gbytes_per_s = file_.memory_gbytes_per_s.value;
    for (size_t c = 0; c < cores_.size(); ++c) {
      const ClusterFigures& figures = file_.clusters[c];
      costs.take_ns.push_back(std::llround(figures.dequeue_ns.value +
                                           double(TakeCost().ns) / file_.machine.clusters[c].capacity));
      costs.barrier_ns.push_back(std::llround(figures.barrier_us.value * 1e3));
      costs.wake_ns.push_back(std::llround(figures.wake_us.value * 1e3));
      costs.gbytes_per_s.push_back(figures.gbytes_per_s.value);
    }
    for (const Node& node : graph_.nodes) costs.nodes.push_back(OfNode(node));
    CheckSum(costs);
    return costs;
  }

 private:
  NodeCost OfNode(const Node& node) const {
    NodeCost cost = DescribeNode(graph_, node);
    cost.core_ns.assign(cores_.size(), 0);
    if (!cost.computes()) return cost;
    for (size_t c = 0; c < cores_.size(); ++c) cost.core_ns[c] = ComputeNs(file_.clusters[c], cost);
    return cost;
  }

  // Returns the time on a core that does not wait for memory. A GFLOP/s is one operation per nanosecond.
  static double ComputeNs(const ClusterFigures& figures, const NodeCost& cost) {
    if (cost.flops <= 0) return 0;
    const double share =
        cost.kind == NodeKind::kDepthwise ? figures.depthwise_share.value : figures.compute_share.value;
    return double(cost.flops) / (cost.int8 ? figures.int8_gops() : figures.f32_gflops()) / share;
  }

  void CheckSum(const Costs& costs) const {
    if (std::none_of(costs.nodes.begin(), costs.nodes.end(), [](const NodeCost& n) { return n.computes(); }))
      Invalid(graph_.name, "nothing to estimate; no node computes anything of a known size");
    double slowest = 0;
    for (const NodeCost& n : costs.nodes) slowest += SlowestNs(costs, n);
    if (!(slowest <= kMostNs))
      Invalid(file_.machine.name,
              "the model takes too long to be believed; got {:.3g} s on the slowest core, expected {:.3g} s "
              "at most",
              slowest * 1e-9, kMostNs * 1e-9);
  }

  // Returns the time of the whole node on one of the slowest cores while all cores work.
  double SlowestNs(const Costs& costs, const NodeCost& node) const {
    const NodeTimes times = TimesOn(costs, node, cores_);
    return double(times.blocks) * *std::max_element(times.block_ns.begin(), times.block_ns.end());
  }

  const Graph& graph_;
  const MachineFile& file_;
  const std::vector<int> cores_;
};

}  // namespace

Costs EstimateCosts(const Graph& graph, const MachineFile& file, const std::vector<int>& cores) {
  return Estimator(graph, file, cores).Do();
}

std::string EstimatedFigures(const MachineFile& file) {
  static constexpr std::string_view kRead[] = {"max_mhz",       "f32_flops_per_cycle", "int8_ops_per_cycle",
                                               "compute_share", "depthwise_share",     "gbytes_per_s",
                                               "dequeue_ns",    "barrier_us"};
  std::vector<std::string_view> keys;
  size_t read = 1, estimates = file.memory_gbytes_per_s.is_estimate();
  if (estimates > 0) keys.push_back("memory's gbytes_per_s");
  for (const ClusterFigureKey& k : ClusterFigureKeys()) {
    if (std::find(std::begin(kRead), std::end(kRead), k.key) == std::end(kRead)) continue;
    read += file.clusters.size();
    const auto is_estimate = [&](const ClusterFigures& f) { return (f.*k.figure).is_estimate(); };
    const auto count = std::count_if(file.clusters.begin(), file.clusters.end(), is_estimate);
    estimates += size_t(count);
    if (count > 0) keys.push_back(k.key);
  }
  if (keys.empty()) return fmt::format("none of the {} figures", read);
  return fmt::format("{} of the {} figures ({})", estimates, read, fmt::join(keys, ", "));
}

}  // namespace mete
