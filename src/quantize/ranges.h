// From a histogram of activations to the range that 256 levels cover.
#pragma once

#include <string_view>
#include <vector>

#include "quantize/histogram.h"
#include "quantize/scales.h"

namespace mete {

enum class RangeMethod {
  kMinMax,      // from the smallest to the largest value
  kPercentile,  // without the share of values that are farthest out
  kEntropy,     // the least Kullback-Leibler divergence between the values and their 256 levels
  kMse,         // the least mean squared error
  kAuto,        // min-max, or the range of another method that has clearly less noise
};

struct RangeOptions {
  RangeMethod method = RangeMethod::kAuto;
  double percentile = 99.99;
};

// Returns a range that contains 0, which every kernel needs for padding, within that of the values. {0, 0} if
// the histogram has no values but 0.
ValueRange RangeOf(const Histogram& histogram, const RangeOptions& options);

// Returns the mean squared error of the values at 256 levels over `range`.
double NoiseOf(const Histogram& histogram, const ValueRange& range);
// Returns the mean square of the values.
double PowerOf(const Histogram& histogram);

std::vector<std::string_view> RangeMethodNames();
RangeMethod RangeMethodOf(std::string_view name);  // one of RangeMethodNames()
std::string_view NameOf(RangeMethod method);

}  // namespace mete
