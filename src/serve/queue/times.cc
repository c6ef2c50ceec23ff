#include "serve/queue/times.h"

#include <algorithm>

namespace mete::serve {
namespace {

// The weight of a new sample: an eighth, as TCP has it for its round trips (RFC 6298, section 2.3).
constexpr double kWeight = 0.125;
// A sample counts as this many times what was expected at most. A guess: with kWeight, an outlier of any size
// changes the time by an eighth, and a model that has become ten times slower is followed within 20 runs.
constexpr double kMostOfExpected = 2;
// Longer starts are not told apart, so that sums of times stay in range: 52 days.
constexpr double kLongest = double(Nanoseconds(1) << 52);

}  // namespace

void SmoothedTime::Observe(Nanoseconds sample) {
  const double ns = std::min(double(sample), kLongest);
  if (ns_ == 0) ns_ = ns;
  else ns_ += kWeight * (std::min(ns, kMostOfExpected * ns_) - ns_);
}

void RowTimes::Observe(int rows, bool wide, Nanoseconds compute) {
  (rows == 1 ? alone_ : together_)[wide].Observe(std::max(compute / rows, Nanoseconds(1)));
}

Nanoseconds RowTimes::Of(int rows, bool wide) const {
  const SmoothedTime& together = together_[wide];
  const SmoothedTime& row = rows > 1 && together.value() > 0 ? together : alone_[wide];
  return Nanoseconds(std::min(double(row.value()) * rows, kLongest));
}

}  // namespace mete::serve
