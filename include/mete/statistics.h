// Robust statistics of repeated timings: a centre and a spread that few outliers, for example by interrupts,
// do not change.
#pragma once

#include <vector>

namespace [[gnu::visibility("default")]] mete {

struct Spread {
  double median = 0, mad = 0;  // mad: median absolute deviation from the median
  double p95 = 0, p99 = 0, least = 0, most = 0;
  int count = 0;
};

Spread Summarize(std::vector<double> samples);  // all zero for no samples

}  // namespace mete
