// Measures this machine: what things take (costs/profile.h), from the layers of networks that are there for
// that (zoo/probes.cc).
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
  double seconds = 0;  // for all clusters together; preparation comes on top, some seconds
  std::function<void(const std::string& what, int done, int total)> progress = {};
  const CancelToken* cancel = nullptr;
  int probes = 0;  // of the probe networks the first so many; 0: all. For tests
};

// Of each cluster the first core, one after the other. Error CANCELLED, or where the probe networks cannot be
// written to the folder for temporary files.
Profile MeasureProfile(const Machine& machine, const ProfileOptions& options);

// How fast a cluster is just now beside when it was profiled: the first probe network again.
class Drift {
 public:
  Drift(const Machine& machine, const ClusterProfile& profile, int core);
  ~Drift();
  void Run();
  double factor() const;  // 1.1: everything takes 10 % longer now; 1 before the first Run()

 private:
  struct Probe;
  const ClusterProfile& profile_;
  std::unique_ptr<Probe> probe_;
};

}  // namespace mete
