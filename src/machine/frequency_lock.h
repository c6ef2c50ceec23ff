// The file that says which frequencies this process has changed, and what they were: so that the next start
// puts back what a process that was killed could not. It is written whole and on the disk before the first
// change.
//
// Its owner holds a flock() on it for as long as it lives, which tells its death to other containers too,
// where its number means nothing. A child that it forks holds the same one until it ends or executes another
// program: frequencies that were left are not put back before that. Processes of other users keep theirs in
// another folder and are not seen.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine/frequency_policy.h"

namespace mete {

using FrequencySettings = std::map<std::string, FrequencySetting>;  // by policy

// Puts back what a process that is gone has left in `folder` (of the lock; "": nothing). Returns what was
// done, in a line, or where that is not allowed, or cannot be understood, what is changed and how to put it
// back; "" where there is nothing, which takes one system call, and where the process lives, or a child that
// it forked.
std::string MendFrequencies(const std::string& root, const std::string& folder,
                            WriteFrequencyFile write = WriteFrequencyFileOfKernel);

class FrequencyLock {
 public:
  // Takes the lock. What a process left behind that is gone is put back first, and stands in notes(); what
  // was left before the machine was started anew is only removed, because the kernel has forgotten it too.
  // Error FAILED_PRECONDITION where the process lives, UNAVAILABLE where the folder or a file of cpufreq
  // cannot be written, DATA_LOSS where the file is damaged. `read` is asked for what is to be put back, after
  // that.
  using ReadSettings = std::function<FrequencySettings()>;
  FrequencyLock(const std::string& root, const std::string& folder, WriteFrequencyFile write,
                const ReadSettings& read);

  const std::vector<FrequencyRestorer>& restorers() const { return restorers_; }  // to what `read` has said
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
