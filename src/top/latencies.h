// Times of requests as counts in buckets, and their quantiles. No function has a state.
#pragma once

#include <optional>
#include <vector>

#include "base/time_histogram.h"

namespace mete::top {

struct Latencies {
  std::vector<double> upper_s;  // the upper ends of the buckets, ascending, the last one infinite
  std::vector<double>
      at_most;       // for each of them, how many times are at most so long; never less than before
  double sum_s = 0;  // of all times

  double count() const { return at_most.empty() ? 0 : at_most.back(); }
};

Latencies LatenciesOf(const TimeHistogram& times);

// Whether the buckets and their counts are as their comments say, and all counts and the sum are finite.
bool IsWhole(const Latencies& latencies);

// Returns the times that came between two polls. Nothing if the counters began anew, or the buckets are
// others.
std::optional<Latencies> Between(const Latencies& before, const Latencies& now);

struct Quantile {
  double s = 0;
  bool is_more = false;  // it lies beyond the last bucket that ends, whose end `s` is
};

// Interpolates linearly within the bucket in which the quantile lies, as Prometheus does. Nothing without
// times.
std::optional<Quantile> QuantileOf(const Latencies& latencies, double q);
std::optional<double> MeanOf(const Latencies& latencies);  // seconds

}  // namespace mete::top
