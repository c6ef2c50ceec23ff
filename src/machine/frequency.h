// Sets the frequencies of clusters and restores them: at the end, on SIGINT, SIGTERM, SIGHUP, SIGQUIT and
// SIGPIPE, and, if the process was killed, when another process makes the next FrequencyControl.
#pragma once

#include <string>
#include <vector>

#include "machine/frequency_lock.h"
#include "machine/frequency_policy.h"
#include "machine/frequency_signals.h"
#include "machine/machine.h"

namespace mete {

// An interface to set frequencies, of this machine or of a simulated one.
class ClusterFrequencies {
 public:
  virtual ~ClusterFrequencies() = default;
  virtual std::vector<int64_t> Khz(size_t cluster) const = 0;  // the frequencies on offer, ascending
  // Throws Error if `khz` is not on offer or cannot be set.
  virtual void Set(size_t cluster, int64_t khz) = 0;
};

// Returns the frequency of a cluster under load if no program sets it: every governor except userspace goes
// to the upper limit under load. (The governor powersave does so too with drivers that choose the frequency
// themselves, Intel's and AMD's; that it does so with other drivers is a guess.) 0 if it is unknown.
int64_t LoadedKhz(const Frequency& frequency);

// The implementation for users who may not set frequencies: one frequency per cluster, the one under load.
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

// Returns why the frequencies of these clusters cannot or should not be set; "" if they probably can. The
// function changes nothing.
std::string WhyFrequenciesStay(const std::vector<Cluster>& clusters, const std::string& root = "/");

struct FrequencyPlaces {
  std::string root = "/";  // the root given to ReadMachine()
  std::string folder;      // folder of the lock file: CacheFolder()
  WriteFrequencyFile write = WriteFrequencyFileOfKernel;
};

// A process can have one FrequencyControl at a time; a forked child restores nothing. On one of the signals
// above, the frequencies are restored first; then the handler that was installed before is called, or the
// process ends as it would have without this class. A later Set() throws CANCELLED.
//
// Restored is the state that the kernel showed before: governor, limits, and the tunables of the governor.
// The kernel shows the limits that are in force. While the kernel lowers clocks because of heat, no frequency
// is set, because the kernel's limit would later be restored as if it was the user's. Other programs that
// lower a limit for a while are assumed to set it again: vendors' programs that write scaling_max_freq, and
// firmware with a limit that depends on the power supply (bios_limit). These limits look like the user's own.
class FrequencyControl : public ClusterFrequencies {
 public:
  // Restores the frequencies that a killed process has left changed, and changes nothing else. Throws the
  // errors of FrequencyLock, and FAILED_PRECONDITION if cpufreq does not show a cluster's policies or if
  // clocks are lowered because of heat.
  FrequencyControl(const std::vector<Cluster>& clusters, FrequencyPlaces places);
  ~FrequencyControl() override;  // as Restore(); after an error the next start restores the frequencies

  std::vector<int64_t> Khz(size_t cluster) const override { return khz_.at(cluster); }
  // Two clusters that share a policy both have the frequency that was set last.
  void Set(size_t cluster, int64_t khz) override;

  // Restores the frequencies; Set() fails from then on. Error UNAVAILABLE with the first file that could not
  // be written.
  void Restore();
  const std::vector<std::string>& notes() const { return lock_.notes(); }  // FrequencyLock::notes()

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
