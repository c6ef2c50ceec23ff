// Predicts the costs of a model from a profile.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "costs/describe.h"
#include "costs/profile.h"
#include "graph/flops.h"

namespace mete {
namespace {

// An operator without a probe (few networks have such operators) is predicted like an element-wise node with
// the same number of bytes. This choice is a guess: such nodes are few, and most of them only move data.
constexpr const char* kStandIn = "mete.Elementwise";

// The arithmetic of such a node counts at 1 GFLOP/s, about the speed of the reference kernels. This value is
// a guess. A prediction that is too long is better than one that is too short: a long step gets all threads,
// as it would without a profile. An operator that has fast kernels computes something, so that the reference
// kernel counts at least one operation for each output.
constexpr double kStandInNsPerFlop = 1;

const Fit* FitOf(const ClusterProfile& profile, const std::string& key) {
  const auto fit = profile.kernels.find(key);
  return fit == profile.kernels.end() ? nullptr : &fit->second;
}

NodePrediction OfWork(const ClusterProfile& profile, const Work& work) {
  if (const Fit* fit = FitOf(profile, work.key()))
    return {fit->Predict(work.amounts), work.key(), fit->Known(work.amounts)};
  if (const Fit* stand_in = FitOf(profile, work.stand_in))
    return {stand_in->Predict(work.amounts) + work.beside_ns, work.key(), false};
  const Fit* elementwise = FitOf(profile, kStandIn);
  return {elementwise ? elementwise->Predict(work.amounts) : 0, work.key(), false};
}

// Returns the least time of a work that is predicted by its bytes alone; 0 for others.
double LeastNs(const ClusterProfile& profile, const Work& work, int64_t flops) {
  if (FitOf(profile, work.key()) || FitOf(profile, work.stand_in)) return 0;
  const auto outputs = work.amounts.find(kOutputs);
  const bool counts = work.regime == kReferenceRegime && outputs != work.amounts.end();
  return kStandInNsPerFlop * std::max(double(flops), counts ? outputs->second : 0);
}

const ClusterProfile& MustHave(const Profile& profile, const Cluster& cluster) {
  if (const ClusterProfile* p = ProfileOf(profile, cluster.name)) return *p;
  Invalid("profile", "has no {}; try \"mete profile\" to measure this machine again", cluster.name);
}

// One way to compute a node, on each of the clusters that take part.
struct Way {
  std::vector<NodePrediction> on;
  std::vector<double> least_ns = {};  // LeastNs() on each of them
  bool known = true;                  // known on all clusters
  double rate = 0;                    // such nodes per nanosecond, of all cores together
};

// Returns the ways in the order of WorksOf(), which is the same for all clusters: only the amounts differ,
// because the caches differ.
std::vector<Way> WaysOf(const std::vector<const ClusterProfile*>& profiles, const std::vector<int>& cores,
                        const Graph& graph, const Node& node, const RepeatedRun& run) {
  std::vector<Way> ways;
  const int64_t flops = Flops(graph, node);
  for (size_t c = 0; c < profiles.size(); ++c) {
    const std::vector<Work> works = WorksOf({graph, node, profiles[c]->caches, run});
    ways.resize(works.size());
    for (size_t i = 0; i < works.size(); ++i) {
      const NodePrediction p = OfWork(*profiles[c], works[i]);
      ways[i].on.push_back(p);
      ways[i].least_ns.push_back(LeastNs(*profiles[c], works[i], flops));
      ways[i].known &= p.known;
      ways[i].rate += cores[c] / std::max(p.ns, 1.0);
    }
  }
  return ways;
}

// Predicts a node in the way in which all cores together are fastest. All cores compute a node in the same
// way, because they share its packed weights. The planner may later choose some of these cores only.
std::vector<NodePrediction> PredictTogether(const std::vector<const ClusterProfile*>& profiles,
                                            const std::vector<int>& cores, const Graph& graph,
                                            const Node& node, const RepeatedRun& run) {
  Way best;
  for (const Way& way : WaysOf(profiles, cores, graph, node, run))
    if (best.on.empty() || way.known > best.known || (way.known == best.known && way.rate > best.rate))
      best = way;
  for (size_t c = 0; c < best.on.size(); ++c) best.on[c].ns = std::max(best.on[c].ns, best.least_ns[c]);
  best.on.resize(profiles.size());
  return best.on;
}

}  // namespace

NodePrediction Predict(const ClusterProfile& profile, const Graph& graph, const Node& node,
                       const RepeatedRun& run) {
  return PredictTogether({&profile}, {1}, graph, node, run)[0];
}

Costs PredictCosts(const Graph& graph, const Profile& profile, const Machine& machine) {
  Costs costs;
  costs.cores = PhysicalCores(machine);
  const size_t clusters = machine.clusters.size();
  costs.take_ns.assign(clusters, std::llround(profile.take_ns));
  costs.barrier_ns.assign(clusters, std::llround(profile.barrier_ns));
  costs.wake_ns.assign(clusters, std::llround(profile.wake_ns));
  costs.gbytes_per_s.assign(clusters, Costs::kNoLimit);  // the times include a core's waiting for memory
  std::vector<const ClusterProfile*> profiles;
  for (const Cluster& cluster : machine.clusters) profiles.push_back(&MustHave(profile, cluster));
  const RepeatedRun run = RunOf(graph);
  for (const Node& node : graph.nodes) {
    NodeCost cost = DescribeNode(graph, node);
    cost.core_ns.assign(clusters, 0);
    if (cost.computes()) {
      const std::vector<NodePrediction> on = PredictTogether(profiles, costs.cores, graph, node, run);
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
