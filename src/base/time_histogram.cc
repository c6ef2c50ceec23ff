#include "base/time_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mete {
namespace {

constexpr double kLeastS = 1e-6;

}  // namespace

double TimeHistogram::UpperS(int bucket) {
  if (bucket >= kBuckets - 1) return std::numeric_limits<double>::infinity();
  return kLeastS * std::pow(10.0, double(bucket) / kPerDecade);
}

void TimeHistogram::Add(double seconds) {
  const double at = std::ceil(std::log10(std::max(seconds, kLeastS) / kLeastS) * kPerDecade);
  ++counts_[size_t(std::clamp(at, 0.0, double(kBuckets - 1)))];
  sum_s_ += seconds;
}

}  // namespace mete
