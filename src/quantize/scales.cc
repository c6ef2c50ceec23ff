#include "quantize/scales.h"

#include <algorithm>
#include <cmath>

namespace mete {
namespace {

// Weights keep away from -128: with u8 activations two products of 255 * -128 exceed the 16 bits in which
// some engines add them sooner than with -127, and negation stays possible.
constexpr float kMostWeight = 127;

float Rounded(float weight, float scale) {
  return std::clamp(std::nearbyint(weight / scale), -kMostWeight, kMostWeight);
}

double ErrorAt(std::span<const float> weights, float scale) {
  double error = 0;
  for (const float w : weights) {
    const double e = double(w) - double(Rounded(w, scale)) * scale;
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

ActivationScale ScaleOf(const Range& range, DType type) {
  ActivationScale s;
  s.type = type;
  s.scale = (range.high - range.low) / kLevels8;
  const int lowest = type == DType::kI8 ? -128 : 0;
  s.zero = lowest + int(std::clamp(std::nearbyint(-range.low / s.scale), 0.0f, float(kLevels8)));
  return s;
}

float WeightScaleOf(std::span<const float> weights) {
  const float largest = Largest(weights);
  if (largest == 0) return 0;
  // The largest weight is a whole number of steps of the grid.
  for (int steps = 1; steps <= int(kMostWeight); ++steps)
    if (IsGrid(weights, largest / float(steps))) return largest / float(steps);
  // Lower scales than that of the largest weight clip it; below 0.7 this never paid in the networks that were
  // tried, and 16 candidates are within 2 % of the best scale.
  constexpr int kCandidates = 16;
  constexpr float kLeastPart = 0.7f;
  float best = largest / kMostWeight;
  double least = ErrorAt(weights, best);
  for (int i = 1; i < kCandidates; ++i) {
    const float part = 1 - (1 - kLeastPart) * float(i) / float(kCandidates - 1);
    const float scale = largest * part / kMostWeight;
    const double error = ErrorAt(weights, scale);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

QuantizedWeights QuantizeWeights(const Tensor& weights, int axis, std::span<const float> least_scale) {
  const Channels channels(weights.shape(), axis);
  QuantizedWeights q{Tensor(DType::kI8, weights.shape()), Tensor(DType::kF32, Shape{channels.count})};
  const auto* from = weights.as<float>();
  auto* bytes = q.bytes.mutable_view().as<int8_t>();
  auto* scales = q.scales.mutable_view().as<float>();
  std::vector<float> own;
  for (int64_t c = 0; c < channels.count; ++c) {
    own.clear();
    channels.ForEach(c, [&](int64_t at) { own.push_back(from[at]); });
    float scale = WeightScaleOf(own);
    if (!least_scale.empty()) scale = std::max(scale, least_scale[size_t(c)]);
    if (scale == 0) scale = 1;  // all weights and the bias are 0
    scales[c] = scale;
    channels.ForEach(c, [&](int64_t at) { bytes[at] = int8_t(Rounded(from[at], scale)); });
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
