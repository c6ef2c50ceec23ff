// Scales and zero points: of activations from their range, of weights from the weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mete/tensor.h"

namespace mete {

struct ValueRange {
  float low = 0, high = 0;

  bool empty() const { return low == high; }
  bool operator==(const ValueRange&) const = default;
};

// The number of a byte q is (q - zero) * scale.
struct ActivationScale {
  DType type = DType::kU8;
  float scale = 1;
  int zero = 0;
};

inline constexpr int kLevels8 = 255;  // steps between the smallest and the largest byte

// Returns the scale at which the levels cover the range and 0 is a level. `type` is u8 or i8. The range is
// not empty.
ActivationScale ScaleOf(const ValueRange& range, DType type);

// i8 weights with a scale for each channel and no zero point.
struct QuantizedWeights {
  Tensor bytes;   // i8, of the shape of the weights
  Tensor scales;  // f32, one for each channel
};

// Weights with a lower scale are all but 0. This one's reciprocal is a float, and so is its product with a
// scale of activations, whose range is at least kLeastRange (quantize.cc).
inline constexpr float kLeastScale = 1e-13f;

// Returns the scale of each channel of weights with output channels along `axis`; 0 where all weights are 0
// or all but 0.
std::vector<float> WeightScalesOf(const Tensor& weights, int axis);

// Quantizes weights with these scales, which are not 0.
QuantizedWeights QuantizeWeights(const Tensor& weights, int axis, std::span<const float> scales);

// Returns the weights as floats again.
Tensor Dequantized(const QuantizedWeights& weights, int axis);

// Returns the scale for some weights, those of a channel: the step of their grid if they lie on one of at
// most 127 steps to each side, as the weights of networks that were trained with 8 bits do, because that is
// exact; else the scale with the least squared error. 0 for weights that are all 0.
float WeightScaleOf(std::span<const float> weights);

}  // namespace mete
