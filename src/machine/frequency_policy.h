// One policy of cpufreq: cores whose clock is switched together, what it was set to before, and how it is set
// and put back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/governor_tunables.h"
#include "machine/sysfs.h"

namespace mete {

bool WriteFrequencyFileOfKernel(const char* path, const char* text);

// What a policy is set to, as texts: what was read is written back as it was.
struct FrequencySetting {
  std::string governor, min_khz, max_khz;
  std::string speed_khz = {};  // of the governor userspace alone
  GovernorTunables tunables = {};
};

// `name` is that of its folder in sys/devices/system/cpu/cpufreq.
FrequencySetting ReadFrequencySetting(Sysfs& sysfs, const std::string& name);

// `count` frequencies from the least to the most, evenly; fewer where they are less than a MHz apart. Of what
// is bad, none. guess: 8 show where a curve has its bottom
std::vector<int64_t> SpreadKhz(int64_t min_khz, int64_t max_khz, int count = 8);

// What may be set, ascending: scaling_available_frequencies, or where the driver lists none a spread of what
// the hardware can.
std::vector<int64_t> AvailableKhz(Sysfs& sysfs, const std::string& name);

// Sets the policy to one frequency: by the governor userspace where it is offered, else by equal limits. At
// each moment the lower limit is not above the upper one. Error UNAVAILABLE that names the file that could
// not be written.
void PinFrequency(const std::string& root, const std::string& name, int64_t khz, WriteFrequencyFile write);

// Puts a policy back. All is prepared beforehand, so that Do() may run in a signal handler.
class FrequencyRestorer {
 public:
  // Error where the setting is none that was ever read: it may come from a file.
  FrequencyRestorer(const std::string& root, const std::string& name, const FrequencySetting& setting);

  // The path of the first file that could not be written; nullptr where all could. Async-signal-safe.
  const char* Do(WriteFrequencyFile write) const;

 private:
  std::string governor_path_, min_path_, max_path_, speed_path_;
  FrequencySetting setting_;
  int64_t max_khz_ = 0;
  TunablesRestorer tunables_;
};

// All of them; where that succeeds the lock (frequency_lock.h) goes too. Else the path of the first file that
// could not be written, with its errno; it lives as long as its restorer. Async-signal-safe.
const char* PutBackAll(const std::vector<FrequencyRestorer>& restorers, const char* lock_path,
                       WriteFrequencyFile write);

}  // namespace mete
