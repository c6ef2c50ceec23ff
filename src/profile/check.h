// How good predictions are: the nodes of models on some cores, predicted and measured.
#pragma once

#include <string>
#include <vector>

#include "costs/profile.h"
#include "machine/machine.h"
#include "mete/engine.h"
#include "plan/plan.h"
#include "profile/runner.h"

namespace mete {

struct CheckedNode {
  std::string node, op;
  std::string kernel;  // that computed it
  std::string predicted_kernel;
  bool product = false;                      // a convolution or a matrix product
  bool known = true;                         // all of it was in the profile
  double predicted_ns = 0, measured_ns = 0;  // measured: the least of all runs

  double ratio() const { return predicted_ns / measured_ns; }
};

struct Check {
  std::vector<CheckedNode> nodes;  // those that compute
  // The same by a profile that was measured in turns with the models; empty where none was.
  std::vector<CheckedNode> in_turns;
  // Of the core since it was profiled, by the profile's first probe network in turns with the models; 1.1: 10
  // % slower now.
  double drift = 1;
};

struct CheckOptions {
  std::vector<TimedCore> cores;
  double seconds = 0;  // for everything together; some rounds are made in any case
  // Measure the probe networks too, on each core as it is emulated, in turns with the models: so that neither
  // what changed since the profile was measured nor what differs between an emulated core and a slow one
  // counts as an error of the predictions.
  bool in_turns = false;
  int probes = 0;  // of the probe networks the first so many; 0: all. For tests
  const CancelToken* cancel = nullptr;
};

// Of each model a Check for each core. All models on all cores are run in turns, equally often. Error
// CANCELLED, or where the profile lacks a core's cluster.
std::vector<std::vector<Check>> CheckModels(const std::vector<Model>& models, const Machine& machine,
                                            const Profile& profile, const CheckOptions& options);

// All of a plan for several cores, as a session that finds the profile makes it.
struct CheckedPlan {
  double predicted_ns = 0;  // PredictedUs()
  double least_ns = 0;      // measured: the sum of each node's least time
  double median_ns = 0;     // of whole runs
};
CheckedPlan CheckPlan(const Model& model, const Machine& machine, const Profile& profile,
                      const CpuChoice& choice, double seconds, const CancelToken* cancel = nullptr);

// The share of the nodes whose prediction is off by `most` at most, if the drift is taken out or not; 1 of
// none.
double ShareWithin(const std::vector<CheckedNode>& nodes, double drift, double most);

}  // namespace mete
