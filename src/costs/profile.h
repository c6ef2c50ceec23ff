// A profile: what things take on each cluster of one machine, as they were measured once (src/profile), kept
// in a file for later starts. Times are those of a core that nobody disturbs: of each node the least of many
// runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "costs/costs.h"
#include "costs/fit.h"
#include "costs/work.h"
#include "graph/graph.h"
#include "machine/machine.h"

namespace mete {

// What a profile is valid for. Kernels of other sources may be faster or slower.
struct ProfileKey {
  std::string cpu, target, version, sources;
  bool operator==(const ProfileKey&) const = default;
};

struct ClusterProfile {
  std::string cluster;                 // as Machine names it
  std::vector<int> cores;              // of the cluster, of which the first was measured
  CoreCaches caches;                   // as WorksOf() wants them
  std::map<std::string, Fit> kernels;  // by Work::key()
  // of the first probe network, the sum of its nodes' least times: what drifts is seen by it
  double reference_ns = 0;
  int64_t khz = 0;  // when it was measured; 0: not told
  std::string governor;
  double celsius = 0;  // of the hottest zone afterwards; 0: not told
};

struct Profile {
  ProfileKey key;
  double seconds = 0;  // that it took
  // Of the threads of all clusters together.
  double take_ns = 0, barrier_ns = 0, wake_ns = 0;
  std::vector<ClusterProfile> clusters;
};

// nullptr where the profile has none of that name.
const ClusterProfile* ProfileOf(const Profile& profile, const std::string& cluster);

// A prediction for a node on one core, with nothing else on the machine.
struct NodePrediction {
  double ns = 0;
  std::string kernel;  // Work::key() of the fastest way
  // all that it consists of was measured; else as much as was, and of a kernel that no probe has a guess
  bool known = true;
};
// `run_bytes`: BytesOfRun(graph). 0 ns for what computes nothing.
NodePrediction Predict(const ClusterProfile& profile, const Graph& graph, const Node& node, double run_bytes);

// The model's nodes on the machine that the profile is of, as the planner wants them: each computed in one
// way on all clusters. With the largest register tile on each: what another one may gain a cluster is less
// than what predictions are off. Error where the profile lacks a cluster.
Costs PredictCosts(const Graph& graph, const Profile& profile, const Machine& machine);

// Empty where `profile` serves for `key` and the machine's clusters, else why it does not, for people.
std::string WhyNot(const Profile& profile, const ProfileKey& key, const Machine& machine);

// Throws Error with everything that cannot be: times below 0 or not finite, no clusters.
void Verify(const Profile& profile);

std::string ToJson(const Profile& profile);
// verified; Error that names `where`
Profile ProfileFromJson(const std::string& text, const std::string& where);

// One file for each processor and instruction set; empty where `folder` is. What it was measured with stands
// in the file, so that a stale one is told from none.
std::string ProfileFile(const std::string& folder, const ProfileKey& key);

}  // namespace mete
