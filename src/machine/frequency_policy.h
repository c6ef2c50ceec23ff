// One policy of cpufreq (cores that share a clock): reading its settings, setting it, and restoring it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/governor_tunables.h"
#include "machine/sysfs.h"

namespace mete {

// The most that a frequency in a file may be. This value is a guess: 100 GHz.
inline constexpr int64_t kMostKhz = 100'000'000;

bool WriteFrequencyFileOfKernel(const char* path, const char* text);

// The settings of a policy, as texts: what was read is written back unchanged.
struct FrequencySetting {
  std::string governor, min_khz, max_khz;
  std::string speed_khz = {};  // only with the governor userspace
  GovernorTunables tunables = {};
};

// Reads the settings of the policy with the folder `name` in sys/devices/system/cpu/cpufreq.
FrequencySetting ReadFrequencySetting(Sysfs& sysfs, const std::string& name);

// Returns `count` evenly spaced frequencies from `min_khz` to `max_khz`, fewer if they would be less than 1
// MHz apart, none for invalid bounds. The default of 8 is a guess: enough to show the minimum of an energy
// curve.
std::vector<int64_t> SpreadKhz(int64_t min_khz, int64_t max_khz, int count = 8);

// Returns the frequencies that the policy can have, ascending: scaling_available_frequencies, or, if the
// driver lists none, SpreadKhz() over the range of the hardware.
std::vector<int64_t> AvailableKhz(Sysfs& sysfs, const std::string& name);

// Sets the policy to one frequency: with the governor userspace if the driver offers it, else with both
// limits at this frequency. The lower limit is at no time above the upper one. Error UNAVAILABLE with the
// file that could not be written.
void PinFrequency(const std::string& root, const std::string& name, int64_t khz, WriteFrequencyFile write);

// Restores a policy. The constructor prepares everything, so that Do() may run in a signal handler.
class FrequencyRestorer {
 public:
  // Throws Error if ReadFrequencySetting() could not have returned `setting`, which may come from a file.
  FrequencyRestorer(const std::string& root, const std::string& name, const FrequencySetting& setting);

  // Returns the path of the first file that could not be written; nullptr on success. Async-signal-safe.
  const char* Do(WriteFrequencyFile write) const;

 private:
  std::string governor_path_, min_path_, max_path_, speed_path_;
  FrequencySetting setting_;
  int64_t max_khz_ = 0;
  TunablesRestorer tunables_;
};

// Restores all policies and then removes the lock file (frequency_lock.h). After a failure the lock file
// stays, and the result is the path of the first file that could not be written, with its errno; the path
// lives as long as its restorer. Async-signal-safe.
const char* PutBackAll(const std::vector<FrequencyRestorer>& restorers, const char* lock_path,
                       WriteFrequencyFile write);

}  // namespace mete
