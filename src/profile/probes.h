// The probe networks (zoo/probes.cc) on one core, and what their times say of it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "costs/profile.h"
#include "machine/machine.h"
#include "profile/runner.h"

namespace mete {

// Error where it cannot be written to the folder for temporary files.
Model LoadProbe(int number);

// Each network with its convolutions computed in each way that there is.
class ProbeRunners {
 public:
  ProbeRunners(const std::vector<Model>& probes, const Machine& machine, const Cluster& cluster,
               const TimedCore& core, const CancelToken* cancel = nullptr);

  // All once, `before` called before each. Error CANCELLED.
  void Round(const std::function<void()>& before = [] {});

  ClusterProfile Fitted() const;  // to the least times so far

 private:
  void CheckCancelled() const;

  const Cluster& cluster_;
  const CancelToken* cancel_;
  std::vector<std::unique_ptr<Runner>> runners_;
};

}  // namespace mete
