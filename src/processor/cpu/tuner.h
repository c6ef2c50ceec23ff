// Choosing by measurement: the ways to compute a node are timed once on this machine, and the times are kept in a file for the next
// start.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mete/tensor.h"

namespace mete {

struct Timed {
  std::string name;  // of the candidate
  double us = 0;
};

class Tuner {
 public:
  // `path`: the file that keeps the times; it and its folder are made by Save(). Empty: they last as long as the object. A file that
  // is damaged counts as empty, and note() says so.
  explicit Tuner(std::string path = "");

  // The time of every candidate for `key`, which says all that the times depend on beside the machine. Those not known are measured:
  // `measure` gets a candidate's number and returns microseconds.
  std::vector<Timed> Times(const std::string& key, const std::vector<std::string>& names, const std::function<double(size_t)>& measure);

  // Writes what was measured since the file was read, beside what other processes have written meanwhile; all or nothing. Where
  // that fails nothing is lost but time, and note() says so.
  void Save();

  int measured() const { return measured_; }  // candidates, not taken from the file
  const std::string& note() const { return note_; }

 private:
  using Table = std::map<std::string, std::map<std::string, double>>;  // key -> candidate -> us
  Table Read(std::string* problem) const;

  const std::string path_;
  Table times_;
  int measured_ = 0;
  std::string note_;
};

struct Choice {
  size_t index = 0;
  std::string why;  // for people; empty where there was nothing to choose
};

// The fastest of the candidates, of which the first is the guess: by time where there is a tuner, else that guess.
Choice Choose(Tuner* tuner, const std::string& key, const std::vector<std::string>& names, const std::function<double(size_t)>& measure);

// What candidates are measured on: numbers of the usual size.
Tensor Ones(int64_t elements);

// Microseconds of one call: the least of a few. `before` runs before each call and is not counted.
double LeastUs(const std::function<void()>& call, const std::function<void()>& before = {});

// Where the times of this machine are kept: one file for each processor, instruction set and version of the library. Empty where
// `folder` is.
std::string TuningFile(const std::string& folder, const std::string& cpu, const std::string& target);

}  // namespace mete
