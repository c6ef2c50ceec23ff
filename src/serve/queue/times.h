// How long a version of a model computes on this machine: what was measured when it was loaded, kept up with
// its runs.
#pragma once

#include <cstdint>

namespace mete::serve {

using Nanoseconds = int64_t;  // of a steady clock

// A time that follows what is observed. One sample changes it by an eighth of itself at most, because a run
// that something else has held up says nothing about the next one.
class SmoothedTime {
 public:
  explicit SmoothedTime(Nanoseconds first = 0) : ns_(double(first)) {}
  void Observe(Nanoseconds sample);                       // more than 0
  Nanoseconds value() const { return Nanoseconds(ns_); }  // 0: not known

 private:
  double ns_;
};

// The times of one row (of one request, if it has no batch of its own) in narrow and wide starts. Starts of
// one row and of several have times apart: a row of a batch takes less time than one alone, and the choice
// between wide and narrow is about one alone.
class RowTimes {
 public:
  RowTimes() = default;
  RowTimes(Nanoseconds narrow, Nanoseconds wide) : alone_{SmoothedTime(narrow), SmoothedTime(wide)} {}

  void Observe(int rows, bool wide, Nanoseconds compute);
  // Of a start of `rows` rows; 0: not known.
  Nanoseconds Of(int rows, bool wide) const;
  Nanoseconds Narrow(int rows) const { return Of(rows, /*wide=*/false); }
  Nanoseconds Wide(int rows) const { return Of(rows, /*wide=*/true); }

 private:
  SmoothedTime alone_[2], together_[2];  // narrow, wide
};

}  // namespace mete::serve
