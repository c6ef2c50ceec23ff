// Compares predictions with measurements: the nodes of models on some cores.
#pragma once

#include <string>
#include <vector>

#include "costs/profile.h"
#include "machine/machine.h"
#include "mete/engine.h"
#include "plan/threads/thread_plan.h"
#include "profile/runner.h"

namespace mete {

struct CheckedNode {
  std::string node, op;
  std::string kernel;  // the kernel that computed the node
  std::string predicted_kernel;
  bool product = false;                      // a convolution or a matrix product
  bool known = true;                         // the profile had all units of the node
  double predicted_ns = 0, measured_ns = 0;  // measured_ns: the shortest of all runs

  double ratio() const { return predicted_ns / measured_ns; }
};

struct Check {
  std::vector<CheckedNode> nodes;  // the nodes that compute
  // The same nodes with predictions of a profile that was measured in turns with the models; empty without
  // one.
  std::vector<CheckedNode> in_turns;
  // How much slower the core is than when it was profiled, by the profile's first probe network, which runs
  // in turns with the models; 1.1: 10 % slower.
  double drift = 1;
};

struct CheckOptions {
  std::vector<TimedCore> cores;
  double seconds = 0;  // time of all measurements; a few rounds are made in any case
  // Whether to measure the probe networks too, on each core at its emulated speed, in turns with the models.
  // Then neither changes since the profile was measured, nor differences between an emulated and a real slow
  // core, count as errors of the predictions.
  bool in_turns = false;
  int probes = 0;  // ProfileOptions::probes
  const CancelToken* cancel = nullptr;
};

// Returns for each model one Check per core. All models run on all cores in turns, equally often. Error
// CANCELLED, and Error if the profile lacks a core's cluster.
std::vector<std::vector<Check>> CheckModels(const std::vector<Model>& models, const Machine& machine,
                                            const Profile& profile, const CheckOptions& options);

// The times of a plan for several cores, made as by a session that has the profile.
struct CheckedPlan {
  double predicted_ns = 0;  // PredictedUs() in nanoseconds
  double least_ns = 0;      // measured: the sum of the shortest times of the nodes
  double median_ns = 0;     // measured: the median of whole runs
};
CheckedPlan CheckPlan(const Model& model, const Machine& machine, const Profile& profile,
                      const CpuChoice& choice, double seconds, const CancelToken* cancel = nullptr);

// Returns the share of the nodes with a prediction error of at most `most`, after the predictions are
// multiplied by `drift` (1 leaves them unchanged); 1 if there are no nodes.
double ShareWithin(const std::vector<CheckedNode>& nodes, double drift, double most);

}  // namespace mete
