// How good predictions are: a model's nodes on one core, predicted and measured.
#pragma once

#include <string>
#include <vector>

#include "costs/profile.h"
#include "machine/machine.h"
#include "mete/engine.h"
#include "plan/plan.h"

namespace mete {

struct CheckedNode {
  std::string node, op;
  std::string kernel;     // that computed it
  std::string predicted_kernel;
  bool product = false;   // a convolution or a matrix product
  bool known = true;      // all of it was in the profile
  double predicted_ns = 0, measured_ns = 0;  // measured: the least of all runs

  double ratio() const { return predicted_ns / measured_ns; }
};

struct Check {
  std::vector<CheckedNode> nodes;  // those that compute
  // Of the core since it was profiled, by the profile's first probe network in turns with the model; 1.1: 10 % slower now.
  double drift = 1;
};

// `speed`: that is emulated. Takes about `seconds`. Error CANCELLED, or where the profile lacks the core's cluster.
Check CheckModel(const Model& model, const Machine& machine, const Profile& profile, int core, double speed, double seconds,
                 const CancelToken* cancel = nullptr);

// All of a plan for several cores, as a session that finds the profile makes it.
struct CheckedPlan {
  double predicted_ns = 0;  // PredictedUs()
  double least_ns = 0;      // measured: the sum of each node's least time
  double median_ns = 0;     // of whole runs
};
CheckedPlan CheckPlan(const Model& model, const Machine& machine, const Profile& profile, const CpuChoice& choice, double seconds,
                      const CancelToken* cancel = nullptr);

// The share of the nodes whose prediction is off by `most` at most, if the drift is taken out or not; 1 of none.
double ShareWithin(const std::vector<CheckedNode>& nodes, double drift, double most);

}  // namespace mete
