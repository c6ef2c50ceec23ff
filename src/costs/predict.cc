// From a profile to the costs of a model.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "costs/bytes_since.h"
#include "costs/describe.h"
#include "costs/profile.h"
#include "graph/flops.h"

namespace mete {
namespace {

// For what no probe contains (an operator of few networks): what an element-wise node of as many bytes takes.
// Guess: such nodes are few, and most only move data.
constexpr const char* kStandIn = "mete.Elementwise";

// And its arithmetic at a GFLOP/s, which is what the reference kernels come near to (guess). Rather too long
// than too short: a step that is thought to be long gets all threads, as it would without a profile.
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

// One way to compute a node, on each of the clusters that take part.
struct Way {
  std::vector<NodePrediction> on;
  bool known = true;  // on all of them
  double rate = 0;    // nodes a nanosecond, of all cores together
};

// In the order of WorksOf(), which is the same for all clusters: only the amounts differ, by what a core has
// near.
std::vector<Way> WaysOf(const std::vector<const ClusterProfile*>& profiles, const std::vector<int>& cores,
                        const Graph& graph, const Node& node, double run_bytes) {
  std::vector<Way> ways;
  for (size_t c = 0; c < profiles.size(); ++c) {
    const std::vector<Work> works = WorksOf({graph, node, profiles[c]->caches, run_bytes});
    ways.resize(works.size());
    for (size_t i = 0; i < works.size(); ++i) {
      const NodePrediction p = OfWork(*profiles[c], works[i]);
      ways[i].on.push_back(p);
      ways[i].known &= p.known;
      ways[i].rate += cores[c] / std::max(p.ns, 1.0);
    }
  }
  return ways;
}

// All cores compute a node in the same way, as they share its packed weights: the one in which they are
// fastest together, whichever of them the planner takes then.
std::vector<NodePrediction> PredictTogether(const std::vector<const ClusterProfile*>& profiles,
                                            const std::vector<int>& cores, const Graph& graph,
                                            const Node& node, double run_bytes) {
  Way best;
  for (const Way& way : WaysOf(profiles, cores, graph, node, run_bytes))
    if (best.on.empty() || way.known > best.known || (way.known == best.known && way.rate > best.rate))
      best = way;
  best.on.resize(profiles.size());
  for (size_t c = 0; c < profiles.size(); ++c) {
    NodePrediction& p = best.on[c];
    if (profiles[c]->kernels.contains(p.kernel)) continue;
    p.known = false;
    p.ns = std::max(p.ns, kStandInNsPerFlop * double(Flops(graph, node)));
  }
  return best.on;
}

}  // namespace

NodePrediction Predict(const ClusterProfile& profile, const Graph& graph, const Node& node,
                       double run_bytes) {
  return PredictTogether({&profile}, {1}, graph, node, run_bytes)[0];
}

Costs PredictCosts(const Graph& graph, const Profile& profile, const Machine& machine) {
  Costs costs;
  costs.cores = PhysicalCores(machine);
  const size_t clusters = machine.clusters.size();
  costs.take_ns.assign(clusters, std::llround(profile.take_ns));
  costs.barrier_ns.assign(clusters, std::llround(profile.barrier_ns));
  costs.wake_ns.assign(clusters, std::llround(profile.wake_ns));
  costs.gbytes_per_s.assign(clusters, Costs::kNoLimit);  // a core's waiting for memory is in its times
  std::vector<const ClusterProfile*> profiles;
  for (const Cluster& cluster : machine.clusters) profiles.push_back(&MustHave(profile, cluster));
  const double run_bytes = BytesOfRun(graph);
  for (const Node& node : graph.nodes) {
    NodeCost cost = DescribeNode(graph, node);
    cost.core_ns.assign(clusters, 0);
    if (cost.computes()) {
      const std::vector<NodePrediction> on = PredictTogether(profiles, costs.cores, graph, node, run_bytes);
      for (size_t c = 0; c < clusters; ++c) {
        cost.guessed |= !on[c].known;
        cost.core_ns[c] = std::max(on[c].ns, 1.0);
      }
    }
    costs.nodes.push_back(std::move(cost));
  }
  return costs;
}

}  // namespace mete
