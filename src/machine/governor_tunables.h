// The tunables of a cpufreq governor. The kernel resets them when the last policy leaves the governor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "machine/sysfs.h"

namespace mete {

// Writes a file of one line; returns false if the kernel refuses. The function must be async-signal-safe.
// Tests use a simulated kernel here.
using WriteFrequencyFile = bool (*)(const char* path, const char* text);

struct GovernorTunables {
  // Below sys/devices/system/cpu/cpufreq: "policy0/ondemand", or "ondemand" if all policies of the driver
  // share the tunables.
  std::string folder = {};
  std::map<std::string, std::string> values = {};  // content by file name
};

// Reads the writable tunables of a policy's governor. Error FAILED_PRECONDITION if one of them could not be
// restored.
GovernorTunables ReadGovernorTunables(Sysfs& sysfs, const std::string& policy, const std::string& governor);

// Restores tunables, after the governor is restored. The constructor prepares everything, so that Do() may
// run in a signal handler.
class TunablesRestorer {
 public:
  // Throws Error if ReadGovernorTunables() could not have returned `tunables`, which may come from a file.
  // The caller has checked `policy` and `governor`.
  TunablesRestorer(const std::string& root, const std::string& policy, const std::string& governor,
                   const GovernorTunables& tunables);

  // Returns the path of the first file that could not be written, with its errno; nullptr on success. A
  // tunable that still has its old value is not written, because a file may refuse the value it shows.
  // Async-signal-safe.
  const char* Do(WriteFrequencyFile write) const;

 private:
  const char* DoOnce(WriteFrequencyFile write) const;

  struct Tunable {
    std::string path, text;
  };
  std::vector<Tunable> tunables_;
};

}  // namespace mete
