// Counts times in buckets of equal ratio: quantiles of any number of times, in little memory.
#pragma once

#include <array>
#include <cstdint>

namespace mete {

// Not thread-safe.
class TimeHistogram {
 public:
  // Twenty buckets for each power of ten, so that a quantile that is interpolated in one errs by 12 % at
  // most. From a microsecond, which is below any request, to a thousand seconds: both are guesses.
  static constexpr int kPerDecade = 20, kDecades = 9;
  static constexpr int kBuckets = kPerDecade * kDecades + 2;  // the first is below them, the last beyond

  static double UpperS(int bucket);  // the upper end in seconds; of the last one infinite

  void Add(double seconds);

  // By bucket, how many times lie in it.
  const std::array<uint64_t, kBuckets>& counts() const { return counts_; }
  double sum_s() const { return sum_s_; }

 private:
  std::array<uint64_t, kBuckets> counts_{};
  double sum_s_ = 0;
};

}  // namespace mete
