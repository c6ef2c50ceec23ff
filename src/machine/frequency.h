// Sets the frequencies of clusters, and puts them back: in the end, on SIGINT, SIGTERM, SIGHUP, SIGQUIT and
// SIGPIPE, and, where the process was killed, when the next one of these is made.
#pragma once

#include <string>
#include <vector>

#include "machine/frequency_lock.h"
#include "machine/frequency_policy.h"
#include "machine/frequency_signals.h"
#include "machine/machine.h"

namespace mete {

// Whoever can set frequencies, this machine or a test's.
class ClusterFrequencies {
 public:
  virtual ~ClusterFrequencies() = default;
  virtual std::vector<int64_t> Khz(size_t cluster) const = 0;  // that may be set, ascending
  // Error where it is none of them, or cannot be set
  virtual void Set(size_t cluster, int64_t khz) = 0;
};

// What a cluster runs at while it computes and nobody sets anything: governors go to the upper limit under
// load, but for userspace. (So does powersave where the driver chooses by itself, as Intel's and AMD's do; of
// other drivers it is taken for that too: a guess.) 0: not told.
int64_t LoadedKhz(const Frequency& frequency);

// For whoever may set nothing.
class FixedFrequencies : public ClusterFrequencies {
 public:
  explicit FixedFrequencies(const std::vector<Cluster>& clusters) : clusters_(clusters) {}
  std::vector<int64_t> Khz(size_t cluster) const override {
    return {LoadedKhz(clusters_.at(cluster).frequency)};
  }
  void Set(size_t, int64_t) override {}

 private:
  const std::vector<Cluster>& clusters_;
};

// Why the frequencies of these clusters cannot be set, or should not; "" where it seems that they can.
// Changes nothing.
std::string WhyFrequenciesStay(const std::vector<Cluster>& clusters, const std::string& root = "/");

struct FrequencyPlaces {
  std::string root = "/";  // ReadMachine()'s
  std::string folder;      // of the lock: CacheFolder()
  WriteFrequencyFile write = WriteFrequencyFileOfKernel;
};

// One at a time in a process; a child that is forked leaves all as it is. Of these signals a handler that was
// there before is called when the frequencies are back; where there was none, the process ends as it would
// have. A later Set() throws CANCELLED.
//
// What is put back is what the kernel showed before: governor, limits, and what the governor was tuned to.
// Limits are shown as they are in force, so where the kernel holds clocks down for heat nothing is set: its
// limit would be put back as though it was the user's. Of others who lower a limit for a while it is taken
// for granted that they set it anew: vendors' programs that write scaling_max_freq themselves, and a firmware
// whose limit (bios_limit) goes with the power supply. That cannot be told from the user's own.
class FrequencyControl : public ClusterFrequencies {
 public:
  // Puts back what a process that was killed has left, and changes nothing else. Errors are those of
  // FrequencyLock, and FAILED_PRECONDITION where cpufreq does not show a cluster's policies, and while clocks
  // are held down for heat.
  FrequencyControl(const std::vector<Cluster>& clusters, FrequencyPlaces places);
  ~FrequencyControl() override;  // as Restore(), whose errors stay for the next start to mend

  std::vector<int64_t> Khz(size_t cluster) const override { return khz_.at(cluster); }
  // Two clusters that have a policy in common have the frequency that was set last.
  void Set(size_t cluster, int64_t khz) override;

  void Restore();  // for good; Error UNAVAILABLE that names the first file that could not be written
  const std::vector<std::string>& notes() const { return lock_.notes(); }  // what was found and mended

 private:
  FrequencySettings ReadSettings() const;
  const char* PutBack();

  const FrequencyPlaces places_;
  std::vector<std::vector<std::string>> policies_;  // by cluster
  std::vector<std::vector<int64_t>> khz_;
  FrequencySignals signals_;
  const FrequencyLock lock_;
  bool restored_ = false;
};

}  // namespace mete
