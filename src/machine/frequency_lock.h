// The lock file. It records which frequencies a process has changed and what they were before, so that the
// next start can restore them if the process was killed. The whole file is on the disk before the first
// change.
//
// The owner holds a flock() on the file as long as it lives, so that other containers notice its death too,
// where its process number means nothing. A forked child holds the same flock() until the child ends or
// executes another program; the frequencies are not restored before that. Processes of other users have their
// lock file in another folder and are not seen.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine/frequency_policy.h"

namespace mete {

using FrequencySettings = std::map<std::string, FrequencySetting>;  // by the policy's name

// Restores the frequencies that a dead process has left changed, by the lock file in `folder` (does nothing
// if `folder` is ""). Returns one line: what was restored, or, if that is not allowed or the file is damaged,
// what is changed and how the user can restore it. Returns "" if there is no lock file (which takes one
// system call), and if its process or a forked child of it is alive.
std::string MendFrequencies(const std::string& root, const std::string& folder,
                            WriteFrequencyFile write = WriteFrequencyFileOfKernel);

class FrequencyLock {
 public:
  // Takes the lock. If a dead process has left changed frequencies, they are restored first, with a line in
  // notes(); a lock file from before the last boot is only removed, because the kernel has lost those
  // settings too. Then `read` is called for the settings to restore later. Error FAILED_PRECONDITION if the
  // owner of the lock lives, UNAVAILABLE if the folder or a file of cpufreq cannot be written, DATA_LOSS if
  // the lock file is damaged.
  using ReadSettings = std::function<FrequencySettings()>;
  FrequencyLock(const std::string& root, const std::string& folder, WriteFrequencyFile write,
                const ReadSettings& read);

  const std::vector<FrequencyRestorer>& restorers() const { return restorers_; }  // to the settings of `read`
  const std::string& path() const { return path_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void TakeOver(const std::string& root, WriteFrequencyFile write);
  void Create();

  std::string path_;
  FrequencySettings settings_;
  std::vector<FrequencyRestorer> restorers_;
  std::vector<std::string> notes_;
  std::shared_ptr<const void> held_;  // the lock's descriptor
};

}  // namespace mete
