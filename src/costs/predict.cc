// From a profile to the costs of a model.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "costs/describe.h"
#include "costs/profile.h"
#include "graph/flops.h"

namespace mete {
namespace {

// For what no probe contains (an operator of few networks): what an element-wise node of as many bytes takes. Guess: such nodes are few,
// and most only move data.
constexpr const char* kStandIn = "mete.Elementwise";

// And its arithmetic at a GFLOP/s, which is what the reference kernels come near to (guess). Rather too long than too short: a step that
// is thought to be long gets all threads, as it would without a profile.
constexpr double kStandInNsPerFlop = 1;

NodePrediction OfWork(const ClusterProfile& profile, const Work& work) {
  NodePrediction p{0, work.key(), true};
  const auto fit = profile.kernels.find(work.key());
  if (fit != profile.kernels.end()) {
    p.ns = fit->second.Predict(work.amounts);
    p.known = fit->second.Known(work.amounts);
    return p;
  }
  p.known = false;
  const auto stand_in = profile.kernels.find(kStandIn);
  if (stand_in != profile.kernels.end()) p.ns = stand_in->second.Predict(work.amounts);
  return p;
}

const ClusterProfile& MustHave(const Profile& profile, const Cluster& cluster) {
  if (const ClusterProfile* p = ProfileOf(profile, cluster.name)) return *p;
  Invalid("profile", "has no {}; try \"mete profile\" to measure this machine again", cluster.name);
}

}  // namespace

NodePrediction Predict(const ClusterProfile& profile, const Graph& graph, const Node& node) {
  NodePrediction best;
  for (const Work& work : WorksOf(graph, node, profile.near_bytes)) {
    const NodePrediction p = OfWork(profile, work);
    if (best.kernel.empty() || p.known > best.known || (p.known == best.known && p.ns < best.ns)) best = p;
  }
  if (!profile.kernels.contains(best.kernel)) {
    best.known = false;
    best.ns = std::max(best.ns, kStandInNsPerFlop * double(Flops(graph, node)));
  }
  return best;
}

Costs PredictCosts(const Graph& graph, const Profile& profile, const Machine& machine) {
  Costs costs;
  costs.cores = PhysicalCores(machine);
  const size_t clusters = machine.clusters.size();
  costs.take_ns.assign(clusters, std::llround(profile.take_ns));
  costs.barrier_ns.assign(clusters, std::llround(profile.barrier_ns));
  costs.wake_ns.assign(clusters, std::llround(profile.wake_ns));
  costs.gbytes_per_s.assign(clusters, Costs::kNoLimit);  // a core's waiting for memory is in its times
  for (const Node& node : graph.nodes) {
    NodeCost cost = DescribeNode(graph, node);
    cost.core_ns.assign(clusters, 0);
    if (cost.computes())
      for (size_t c = 0; c < clusters; ++c) {
        const NodePrediction p = Predict(MustHave(profile, machine.clusters[c]), graph, node);
        cost.guessed |= !p.known;
        cost.core_ns[c] = std::max(p.ns, 1.0);
      }
    costs.nodes.push_back(std::move(cost));
  }
  return costs;
}

}  // namespace mete
