#include "quantize/scales.h"

#include <algorithm>
#include <cmath>

namespace mete {
namespace {

// Weights keep away from -128: with u8 activations two products of 255 * -128 exceed the 16 bits in which
// some engines add them sooner than with -127, and negation stays possible.
constexpr float kMostWeight = 127;

// Adding and subtracting 1.5 * 2^23 rounds a float of this size to the nearest even integer, in two
// instructions that loops over vectors have.
float Rounded(float weight, float per_scale) {
  constexpr float kRound = 12582912;
  const float steps = std::min(std::max(weight * per_scale, -kMostWeight), kMostWeight);
  return (steps + kRound) - kRound;
}

float ErrorAt(std::span<const float> weights, float scale) {
  const float per_scale = 1 / scale;
  float error = 0;
  for (const float w : weights) {
    const float e = w - Rounded(w, per_scale) * scale;
    error += e * e;
  }
  return error;
}

float Largest(std::span<const float> weights) {
  float largest = 0;
  for (const float w : weights) largest = std::max(largest, std::abs(w));
  return largest;
}

// Returns whether all weights are multiples of `step`, at most 127 of them. f32 weights on a grid differ from
// it by some roundings of f32, and 1e-3 of a step is far more than these and far less than half a step.
bool IsGrid(std::span<const float> weights, float step) {
  return std::all_of(weights.begin(), weights.end(), [&](float w) {
    const float steps = w / step;
    return std::abs(steps) < kMostWeight + 0.5f && std::abs(steps - std::nearbyint(steps)) < 1e-3f;
  });
}

// Channels of one tensor share rows of elements: channel c has `inner` elements at each multiple of
// channels * inner.
struct Channels {
  int64_t outer, count, inner;

  Channels(const Shape& shape, int axis)
      : outer(shape.Elements(0, axis)), count(shape[axis]), inner(shape.Elements(axis + 1, shape.rank())) {}
  template <class F>
  void ForEach(int64_t channel, F&& f) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) f((o * count + channel) * inner + i);
  }
};

}  // namespace

ActivationScale ScaleOf(const ValueRange& range, DType type) {
  ActivationScale s;
  s.type = type;
  s.scale = (range.high - range.low) / kLevels8;
  const int lowest = type == DType::kI8 ? -128 : 0;
  s.zero = lowest + int(std::clamp(std::nearbyint(-range.low / s.scale), 0.0f, float(kLevels8)));
  return s;
}

float WeightScaleOf(std::span<const float> weights) {
  const float largest = Largest(weights);
  if (largest < kLeastScale * kMostWeight) return 0;
  // The largest weight is a whole number of steps of the grid.
  for (int steps = 1; steps <= int(kMostWeight); ++steps)
    if (IsGrid(weights, largest / float(steps))) return largest / float(steps);
  // Lower scales than that of the largest weight clip it. A part of 0.7 and eight candidates, 4 % apart, are
  // guesses.
  constexpr int kCandidates = 8;
  constexpr float kLeastPart = 0.7f;
  float best = largest / kMostWeight;
  float least = ErrorAt(weights, best);
  for (int i = 1; i < kCandidates; ++i) {
    const float part = 1 - (1 - kLeastPart) * float(i) / float(kCandidates - 1);
    const float scale = largest * part / kMostWeight;
    const float error = ErrorAt(weights, scale);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

std::vector<float> WeightScalesOf(const Tensor& weights, int axis) {
  const Channels channels(weights.shape(), axis);
  std::vector<float> scales, own;
  for (int64_t c = 0; c < channels.count; ++c) {
    own.clear();
    channels.ForEach(c, [&](int64_t at) { own.push_back(weights.as<float>()[at]); });
    scales.push_back(WeightScaleOf(own));
  }
  return scales;
}

QuantizedWeights QuantizeWeights(const Tensor& weights, int axis, std::span<const float> scales) {
  const Channels channels(weights.shape(), axis);
  QuantizedWeights q{Tensor(DType::kI8, weights.shape()), Tensor::Floats(Shape{channels.count}, scales)};
  auto* bytes = q.bytes.mutable_view().as<int8_t>();
  for (int64_t c = 0; c < channels.count; ++c) {
    const float per_scale = 1 / scales[size_t(c)];
    channels.ForEach(c, [&](int64_t at) { bytes[at] = int8_t(Rounded(weights.as<float>()[at], per_scale)); });
  }
  return q;
}

Tensor Dequantized(const QuantizedWeights& weights, int axis) {
  const Channels channels(weights.bytes.shape(), axis);
  Tensor out(DType::kF32, weights.bytes.shape());
  auto* to = out.mutable_view().as<float>();
  const auto* from = weights.bytes.as<int8_t>();
  for (int64_t c = 0; c < channels.count; ++c) {
    const float scale = weights.scales.as<float>()[c];
    channels.ForEach(c, [&](int64_t at) { to[at] = float(from[at]) * scale; });
  }
  return out;
}

}  // namespace mete
