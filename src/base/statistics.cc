#include "mete/statistics.h"

#include <algorithm>
#include <cmath>

namespace mete {
namespace {

// Interpolates linearly between the closest ranks.
double Quantile(const std::vector<double>& sorted, double q) {
  const double at = q * double(sorted.size() - 1);
  const size_t low = size_t(at), high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - double(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

Spread Summarize(std::vector<double> samples) {
  Spread s;
  if (samples.empty()) return s;
  std::sort(samples.begin(), samples.end());
  s.count = int(samples.size());
  s.least = samples.front();
  s.most = samples.back();
  s.median = Quantile(samples, 0.5);
  s.p95 = Quantile(samples, 0.95);
  s.p99 = Quantile(samples, 0.99);
  for (double& v : samples) v = std::abs(v - s.median);
  std::sort(samples.begin(), samples.end());
  s.mad = Quantile(samples, 0.5);
  return s;
}

}  // namespace mete
