// Chooses by measurement: the ways to compute a node are timed once on this machine, and a file keeps the
// times for the next start.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "mete/tensor.h"
#include "processor/cpu/prepare/cold_weights.h"
#include "processor/cpu/prepare/sources_digest.h"

namespace mete {

struct Timed {
  std::string name;  // the candidate's name
  double us = 0;
};

// A candidate that is ready to be timed: its weights are packed, and it has run once, so that its memory is
// allocated.
struct Trial {
  std::function<double()> call_us;  // computes the node once and returns the microseconds
  int64_t bytes = 0;                // the memory that the candidate holds, mainly packed weights
};
using MakeTrial = std::function<Trial(size_t)>;  // makes the candidate with this index

class Tuner {
 public:
  // `path`: the file that keeps the times; Save() makes it and its folder. Empty: the times last as long as
  // the object. A damaged file counts as empty, and note() says so.
  explicit Tuner(std::string path = "");

  // Returns the time of every candidate for `key`, which describes all that the times depend on beside the
  // machine. Candidates without a known time are made and measured in turns: one call of each, then again one
  // call of each; the least time of each counts. A temporary load on the machine then slows all candidates,
  // and not only the one that is measured during it. The candidates that exist at one time hold kTogether
  // bytes and one candidate more at most; larger ones, such as those of a fully connected layer of 400 MB,
  // are measured group after group. The value of kTogether is a guess: below the largest candidate of usual
  // networks, F(4x4) of 512 x 512 channels.
  static constexpr int64_t kTogether = 32 << 20;
  std::vector<Timed> Times(const std::string& key, const std::vector<std::string>& names,
                           const MakeTrial& make);

  // Adds the new times to the file, and keeps the times that other processes have written meanwhile; all or
  // nothing. A failure loses only the times, and note() says so. Frees the memory that measuring took.
  void Save();

  ColdWeights& cold_weights() { return cold_weights_; }

  int measured() const { return measured_; }  // the number of candidates measured, not read from the file
  const std::string& note() const { return note_; }

 private:
  using Table = std::map<std::string, std::map<std::string, double>>;  // key -> candidate -> us
  Table Read(std::string* problem) const;

  const std::string path_;
  Table times_;
  int measured_ = 0;
  std::string note_;
  ColdWeights cold_weights_;
};

struct Choice {
  size_t index = 0;
  std::string why;  // for people; empty where there was only one candidate
};

// Chooses the fastest of the candidates: by time where there is a tuner, otherwise the first one, which is
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
                       std::string_view sources = kSourcesDigest);

}  // namespace mete
