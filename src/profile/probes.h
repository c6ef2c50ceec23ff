// Runs the probe networks (zoo/probes.cc) on one core and fits the core's profile to their times.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "costs/profile.h"
#include "machine/machine.h"
#include "profile/runner.h"

namespace mete {

// Returns how many probe networks are used where `asked` are asked for; 0: all.
int ProbesToUse(int asked);

// Loads a probe network. Error if it cannot be written to the folder for temporary files.
Model LoadProbe(int number);

// Runners for each network, one for each way to compute its convolutions, and one with operands of the halves
// that this processor multiplies faster than f32.
class ProbeRunners {
 public:
  ProbeRunners(const std::vector<Model>& probes, const Machine& machine, const Cluster& cluster,
               const TimedCore& core, const CancelToken* cancel = nullptr);

  // Runs all runners once and calls `before` before each. Error CANCELLED.
  void Round(const std::function<void()>& before = [] {});

  ClusterProfile Fitted() const;  // a profile that is fitted to the shortest times so far

 private:
  void CheckCancelled() const;

  const Cluster& cluster_;
  const CancelToken* cancel_;
  std::vector<std::unique_ptr<Runner>> runners_;
};

}  // namespace mete
