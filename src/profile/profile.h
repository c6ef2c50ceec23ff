// Measures a profile of this machine (costs/profile.h) from the layers of the probe networks (zoo/probes.cc).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "costs/profile.h"
#include "machine/machine.h"
#include "mete/engine.h"

namespace mete {

struct ProfileOptions {
  double seconds = 0;  // for all clusters together, without some seconds of preparation
  std::function<void(const std::string& what, int done, int total)> progress = {};
  const CancelToken* cancel = nullptr;
  int probes = 0;  // the number of probe networks to use, the first ones; 0, or more than there are: all
};

// Measures the first core of each cluster, one after another. Error CANCELLED, and Error if the probe
// networks cannot be written to the folder for temporary files.
Profile MeasureProfile(const Machine& machine, const ProfileOptions& options);

// Compares a cluster's current speed with the speed when it was profiled, by running the first probe network
// again.
class Drift {
 public:
  Drift(const Machine& machine, const ClusterProfile& profile, int core);
  ~Drift();
  void Run();
  double factor() const;  // 1.1: the network takes 10 % longer now; 1 before the first Run()

 private:
  struct Probe;
  const ClusterProfile& profile_;
  std::unique_ptr<Probe> probe_;
};

}  // namespace mete
