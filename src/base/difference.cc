#include "base/difference.h"

#include <algorithm>
#include <cmath>

namespace mete {

double LargestDifference(std::span<const Tensor> a, std::span<const Tensor> b) {
  if (a.size() != b.size()) return INFINITY;
  double apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type() != b[i].type() || a[i].shape() != b[i].shape()) return INFINITY;
    if (a[i].type() != DType::kF32) continue;
    double difference = 0, largest = 0;
    for (int64_t k = 0; k < a[i].elements(); ++k) {
      const double x = a[i].as<float>()[k], y = b[i].as<float>()[k];
      if (std::isnan(x) != std::isnan(y)) return INFINITY;
      difference = std::max(difference, std::abs(x - y));
      largest = std::max(largest, std::abs(y));
    }
    apart = std::max(apart, largest > 0 ? difference / largest : difference);
  }
  return std::isnan(apart) ? INFINITY : apart;
}

}  // namespace mete
