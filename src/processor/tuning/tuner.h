// Chooses by measurement: the ways to compute a node are timed once on this machine, at prepare or later, and
// a file keeps the times for the next start.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/machine.h"
#include "mete/tensor.h"
#include "processor/tuning/cold_weights.h"
#include "processor/tuning/contest.h"

namespace mete {

struct Timed {
  std::string name;  // the candidate's name
  double us = 0;
};

class Tuner {
 public:
  // When candidates without a known time are measured: as soon as they are asked for, or by the owner of the
  // tuner, who takes what waits.
  enum class When { kNow, kLater };

  // `path`: the file that keeps the times; Save() makes it and its folder. Empty: the times last as long as
  // the object. A damaged file counts as empty, and note() says so.
  explicit Tuner(std::string path = "", When when = When::kNow);

  // Returns the time of every candidate for `key`, which describes all that the times depend on beside the
  // machine. Candidates without a known time are measured in a contest (contest.h): now, or later. Later:
  // returns nothing, and the first contest since the last call of TakeWaiting() waits there.
  std::vector<Timed> Times(const std::string& key, const std::vector<std::string>& names,
                           const MakeTrial& make);

  // The measurement of candidates for a key.
  struct Waiting {
    std::string key;
    std::vector<std::string> names;  // of the contest's candidates
    Contest contest;
  };
  std::optional<Waiting> TakeWaiting() { return std::exchange(waiting_, std::nullopt); }
  void Add(const Waiting& measured);  // the times of a contest that is done

  // For owners that derive times from others: return the time of a candidate, nothing where it is not known,
  // and put one.
  std::optional<double> Find(const std::string& key, const std::string& name) const;
  void Put(const std::string& key, const std::string& name, double us);

  // Adds the new times to the file, if there are any, and keeps the times that other processes have written
  // meanwhile; all or nothing. A failure loses only the times, and note() says so. Frees the memory that
  // measuring took.
  void Save();

  ColdWeights& cold_weights() { return cold_weights_; }

  int measured() const { return measured_; }  // the number of candidates measured, not read from the file
  const std::string& note() const { return note_; }

 private:
  using Table = std::map<std::string, std::map<std::string, double>>;  // key -> candidate -> us
  Table Read(std::string* problem) const;

  const std::string path_;
  const When when_;
  Table times_;
  std::optional<Waiting> waiting_;
  int measured_ = 0;
  bool unsaved_ = false;
  std::string note_;
  ColdWeights cold_weights_;
};

struct Choice {
  size_t index = 0;
  std::string why;  // for people; empty where there was only one candidate
};

// Chooses the fastest of the candidates: by time where the tuner has it, otherwise the first one, which is
// the fastest by estimate. Another candidate is preferred to the first only if its time is less than `clear`
// times the first one's; a closer one is as good, and the choice stays the same at every start. 0.97 is a
// guess, a little more than the least of many calls varies by: 0.95 kept ResNet-50's 3x3 layers of 256
// channels with F(2x2), which takes 970 us in the model, where F(4x4) takes 850 to 890 and was measured as
// 0.954 of it.
Choice Choose(Tuner* tuner, const std::string& key, const std::vector<std::string>& names,
              const MakeTrial& make, double clear = 0.97);

// Returns a tensor on which candidates are measured: all elements are 1, a number of usual size.
Tensor Ones(int64_t elements);

// Returns the microseconds of one call, always more than 0.
double CallUs(const std::function<void()>& call);

// Returns the CPU that times are measured on, as TuningFile() takes it: with the name of its cluster where
// the calling thread, on the first of `cores`, is not on the fastest cluster. `cores` empty: the threads are
// not pinned.
std::string CpuOfTimes(const Machine& machine, const std::vector<int>& cores);

// Returns the path of the file for this machine's times. There is one file for each processor, instruction
// set, version of the library and digest of the kernels' `sources`, so that a changed kernel is measured
// again. Files of older sources stay until a user empties the folder: another build may still use them.
// Returns "" where `folder` is empty.
std::string TuningFile(const std::string& folder, const std::string& cpu, const std::string& target,
                       std::string_view sources);

}  // namespace mete
