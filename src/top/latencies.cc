#include "top/latencies.h"

#include <algorithm>
#include <cmath>

namespace mete::top {

Latencies LatenciesOf(const TimeHistogram& times) {
  Latencies latencies;
  double all = 0;
  for (int bucket = 0; bucket < TimeHistogram::kBuckets; ++bucket) {
    latencies.upper_s.push_back(TimeHistogram::UpperS(bucket));
    latencies.at_most.push_back(all += double(times.counts()[size_t(bucket)]));
  }
  latencies.sum_s = times.sum_s();
  return latencies;
}

bool IsWhole(const Latencies& latencies) {
  const auto& [upper_s, at_most, sum_s] = latencies;
  if (upper_s.empty() || upper_s.size() != at_most.size() || !std::isfinite(sum_s) || sum_s < 0) return false;
  if (!std::isinf(upper_s.back()) || !std::isfinite(at_most.back()) || !(at_most[0] >= 0)) return false;
  for (size_t i = 1; i < upper_s.size(); ++i)
    if (!(upper_s[i] > upper_s[i - 1]) || !(at_most[i] >= at_most[i - 1])) return false;
  return std::isfinite(upper_s[0]) || upper_s.size() == 1;
}

std::optional<Latencies> Between(const Latencies& before, const Latencies& now) {
  if (before.upper_s != now.upper_s || before.at_most.size() != now.at_most.size()) return {};
  Latencies between{now.upper_s, now.at_most, std::max(0.0, now.sum_s - before.sum_s)};
  double last = 0;
  for (size_t i = 0; i < now.at_most.size(); ++i) {
    if (now.at_most[i] < before.at_most[i]) return {};
    // a source that counts while it tells may have counted a time in the later buckets alone
    last = std::max(last, now.at_most[i] - before.at_most[i]);
    between.at_most[i] = last;
  }
  return between;
}

std::optional<Quantile> QuantileOf(const Latencies& latencies, double q) {
  const double count = latencies.count();
  if (!(count > 0)) return {};
  const double rank = std::clamp(q, 0.0, 1.0) * count;
  size_t i = 0;
  while (latencies.at_most[i] < rank || latencies.at_most[i] == 0) ++i;
  const double lower = i > 0 ? latencies.upper_s[i - 1] : 0, upper = latencies.upper_s[i];
  if (std::isinf(upper)) return Quantile{lower, true};
  const double below = i > 0 ? latencies.at_most[i - 1] : 0, in = latencies.at_most[i] - below;
  return Quantile{lower + (upper - lower) * (rank - below) / in, false};
}

std::optional<double> MeanOf(const Latencies& latencies) {
  if (!(latencies.count() > 0)) return {};
  return latencies.sum_s / latencies.count();
}

}  // namespace mete::top
