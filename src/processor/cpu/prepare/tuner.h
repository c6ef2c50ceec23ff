// Choosing by measurement: the ways to compute a node are timed once on this machine, and the times are kept
// in a file for the next start.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mete/tensor.h"
#include "processor/cpu/prepare/cold_weights.h"
#include "processor/cpu/prepare/sources_digest.h"

namespace mete {

struct Timed {
  std::string name;  // of the candidate
  double us = 0;
};

// A candidate that is ready to be timed: its weights are packed, and it has run once, so that its memory is
// there.
struct Trial {
  std::function<double()> call_us;  // computes the node once and says how many microseconds that took
  int64_t bytes = 0;                // that it holds, of packed weights above all
};
using MakeTrial = std::function<Trial(size_t)>;  // of candidate number so and so

class Tuner {
 public:
  // `path`: the file that keeps the times; it and its folder are made by Save(). Empty: they last as long as
  // the object. A file that is damaged counts as empty, and note() says so.
  explicit Tuner(std::string path = "");

  // The time of every candidate for `key`, which says all that the times depend on beside the machine. Those
  // not known are made and measured in turns: a call of each, then again a call of each, and the least of
  // each counts. What else the machine does for a while then meets all of them, and not the one whose turn it
  // is. The candidates that are there at a time hold kTogether bytes and one candidate more at most; larger
  // ones, such as those of a fully connected layer of 400 MB, are measured group after group. guess: below
  // the largest candidate of usual networks, F(4x4) of 512 x 512 channels
  static constexpr int64_t kTogether = 32 << 20;
  std::vector<Timed> Times(const std::string& key, const std::vector<std::string>& names,
                           const MakeTrial& make);

  // Writes what was measured since the file was read, beside what other processes have written meanwhile; all
  // or nothing. Where that fails nothing is lost but time, and note() says so. Frees what measuring took.
  void Save();

  ColdWeights& cold_weights() { return cold_weights_; }

  int measured() const { return measured_; }  // candidates, not taken from the file
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
  std::string why;  // for people; empty where there was nothing to choose
};

// The fastest of the candidates, of which the first is the guess: by time where there is a tuner, else that
// guess. `clear`: how much of the guess's time another may take to be preferred; what is closer is as good,
// and the guess is the same at every start. 0.97 is a guess, a little more than what the least of many calls
// varies by: 0.95 kept ResNet-50's 3x3 layers of 256 channels with F(2x2), which takes 970 us in the model,
// where F(4x4) takes 850 to 890 and was measured as 0.954 of it.
Choice Choose(Tuner* tuner, const std::string& key, const std::vector<std::string>& names,
              const MakeTrial& make, double clear = 0.97);

// What candidates are measured on: numbers of the usual size.
Tensor Ones(int64_t elements);

// Microseconds of one call, more than 0.
double CallUs(const std::function<void()>& call);

// Where the times of this machine are kept: one file for each processor, instruction set, version of the
// library and state of the kernels' `sources`, so that a kernel that became faster is measured again. Files
// of older sources stay until somebody empties the folder: another build may still use them. Empty where
// `folder` is.
std::string TuningFile(const std::string& folder, const std::string& cpu, const std::string& target,
                       std::string_view sources = kSourcesDigest);

}  // namespace mete
