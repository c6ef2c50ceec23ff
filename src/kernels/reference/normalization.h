// What the normalizations' files share. All statistics are computed in double.
#pragma once

#include <cmath>
#include <span>

#include "kernels/reference/reference.h"

namespace mete {

// normalization_channel.cc: BatchNormalization, LRN, group norms
std::span<const RefEntry> ChannelNormReferences();
std::span<const RefEntry> LineNormReferences();  // normalization_line.cc: layer, RMS and Lp norms

struct Moments {
  double mean = 0, variance = 0;
};

// In two passes over the elements, which each(f) calls f(x) for; 0, 0 for none.
template <class Each>
Moments MomentsOf(int64_t count, Each each) {
  if (count == 0) return {};
  double sum = 0, squares = 0;
  each([&](double x) { sum += x; });
  const double mean = sum / double(count);
  each([&](double x) { squares += (x - mean) * (x - mean); });
  return {mean, squares / double(count)};
}

}  // namespace mete
