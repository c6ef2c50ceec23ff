// The declarations that the files of the normalizations share. All statistics are computed in double.
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

// Computes the moments in two passes over the elements; each(f) calls f(x) for every element. Both moments
// are 0 if there are no elements.
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
