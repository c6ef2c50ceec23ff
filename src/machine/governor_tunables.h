// What a governor of cpufreq is tuned to beyond its name. The kernel forgets it when the last policy leaves
// the governor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "machine/sysfs.h"

namespace mete {

// Writes a file of one line; false where the kernel refuses. It may run in a signal handler:
// async-signal-safe. Tests put a kernel of their own here.
using WriteFrequencyFile = bool (*)(const char* path, const char* text);

struct GovernorTunables {
  // Below sys/devices/system/cpu/cpufreq: "policy0/ondemand", or where a driver has them for all policies
  // together "ondemand".
  std::string folder = {};
  std::map<std::string, std::string> values = {};  // by file, as texts
};

// Those of a policy's governor that may be written. Error FAILED_PRECONDITION where one could not be put
// back.
GovernorTunables ReadGovernorTunables(Sysfs& sysfs, const std::string& policy, const std::string& governor);

// Puts them back, once the governor is. All is prepared beforehand, so that Do() may run in a signal handler.
class TunablesRestorer {
 public:
  // Error where they are none that were ever read: they may come from a file. `policy` and `governor` are
  // good.
  TunablesRestorer(const std::string& root, const std::string& policy, const std::string& governor,
                   const GovernorTunables& tunables);

  // The path of the first file that could not be written, with its errno; nullptr where all could. What is as
  // it was is not written: a file may refuse what it shows. Async-signal-safe.
  const char* Do(WriteFrequencyFile write) const;

 private:
  const char* DoOnce(WriteFrequencyFile write) const;

  struct Tunable {
    std::string path, text;
  };
  std::vector<Tunable> tunables_;
};

}  // namespace mete
