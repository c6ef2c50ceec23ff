#include "processor/opencl/share/byte_sums.h"

#include <algorithm>
#include <cmath>

namespace mete::opencl {
namespace {

constexpr double kRounding = 0x1p-24;  // of f32
constexpr double kExact = 0x1p24;      // whole numbers of f32
// Levels that sums of f32 may be off. The rest of a level is for the two roundings of float(sum) * scale,
// on both sides at most 4 * 2^-24 of 256 levels.
constexpr double kWithinALevel = 1 - 0x1p-13;

// The weights of an output channel minus their zero point.
struct Weights {
  int64_t magnitudes = 0;  // their sum
  int64_t terms = 0;       // that are not zero
};

Weights WeightsOf(const QuantizedConvolution& conv, int64_t channel) {
  const ConvShape& s = conv.shape;
  const int64_t length = s.in_channels / s.groups * s.kernel_height * s.kernel_width,
                step = conv.weights.channel_stride ? conv.weights.channel_stride : length;
  Weights all;
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = channel * step + i * conv.weights.element_stride;
    const int64_t w = conv.weights.is_signed ? static_cast<const int8_t*>(conv.weights.bytes)[at]
                                             : static_cast<const uint8_t*>(conv.weights.bytes)[at];
    const int64_t magnitude = std::abs(w - conv.weight_zero(channel));
    all.magnitudes += magnitude;
    all.terms += magnitude != 0;
  }
  return all;
}

}  // namespace

double LevelsOfF32Sums(const QuantizedConvolution& conv) {
  double most = 0;
  for (int64_t m = 0; m < conv.shape.out_channels; ++m) {
    const Weights weights = WeightsOf(conv, m);
    const double largest = 255.0 * double(weights.magnitudes);
    if (largest <= kExact) continue;
    const double roundings = double(weights.terms) * kRounding;
    if (roundings >= 1) return INFINITY;
    most = std::max(most, roundings * largest / (1 - roundings) * std::abs(double{conv.scale[size_t(m)]}));
  }
  return most;
}

ByteSums SumsOf(const QuantizedConvolution& conv, bool within_a_level) {
  const double levels = LevelsOfF32Sums(conv);
  return {.whole = levels > (within_a_level ? kWithinALevel : 0),
          .input_zero = int32_t(conv.x.zero),
          .output_zero = int32_t(conv.y.zero),
          .least = conv.least,
          .most = conv.most};
}

}  // namespace mete::opencl
