// A profile: the times of the units of work (fit.h) on each cluster of one machine, measured once
// (src/profile) and kept in a file for later starts. The times are those of an undisturbed core: for each
// node the shortest of many runs.
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

// The processor and the program that a profile is valid for. Kernels of other sources may be faster or
// slower.
struct ProfileKey {
  std::string cpu, target, version, sources;
  bool operator==(const ProfileKey&) const = default;
};

struct ClusterProfile {
  std::string cluster;                 // the cluster's name in Machine
  std::vector<int> cores;              // the cluster's cores, of which the first was measured
  CoreCaches caches;                   // caches for WorksOf()
  std::map<std::string, Fit> kernels;  // by Work::key()
  // sum of the shortest node times of the first probe network; a later check compares it to detect drift
  double reference_ns = 0;
  int64_t khz = 0;  // frequency at the measurement; 0: unknown
  std::string governor;
  double celsius = 0;  // temperature of the hottest zone after the measurement; 0: unknown
};

struct Profile {
  ProfileKey key;
  double seconds = 0;  // duration of the measurement
  // costs of the threads of all clusters together
  double take_ns = 0, barrier_ns = 0, wake_ns = 0;
  std::vector<ClusterProfile> clusters;
};

// Returns the profile of the cluster with that name; nullptr if there is none.
const ClusterProfile* ProfileOf(const Profile& profile, const std::string& cluster);

// A prediction of a node's time on one core of an otherwise idle machine.
struct NodePrediction {
  double ns = 0;
  std::string kernel;  // Work::key() of the fastest way
  // Whether all units of the node were measured. If not, `ns` counts only the measured units, and for a
  // kernel without a probe `ns` is a guess.
  bool known = true;
};
// Predicts the time of `node`; 0 ns if the node computes nothing. `run` is RunOf(graph).
NodePrediction Predict(const ClusterProfile& profile, const Graph& graph, const Node& node,
                       const RepeatedRun& run);

// Predicts the costs of the model's nodes for the planner, on the machine of the profile. All clusters
// compute a node in the same way, each with the largest register tile: another tile may gain less on a
// cluster than the error of the predictions. Error if the profile lacks a cluster.
Costs PredictCosts(const Graph& graph, const Profile& profile, const Machine& machine);

// Returns why `profile` cannot be used for `key` and the machine's clusters, as a text for people; empty if
// it can.
std::string WhyNot(const Profile& profile, const ProfileKey& key, const Machine& machine);

// Throws one Error that lists everything that is impossible: times below 0 or not finite, no clusters.
void Verify(const Profile& profile);

std::string ToJson(const Profile& profile);
// Returns a verified profile; throws Error with `where`.
Profile ProfileFromJson(const std::string& text, const std::string& where);

// Returns the path of the profile, one file per processor and instruction set; empty if `folder` is empty.
// The version and the sources are in the file, not in its name, so that a stale profile is distinguished from
// a missing one.
std::string ProfileFile(const std::string& folder, const ProfileKey& key);

}  // namespace mete
