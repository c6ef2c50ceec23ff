#include "quantize/scales.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace mete {
namespace {

TEST(ScaleOf, ZeroIsALevelAndTheEndsAreLevels) {
  for (const ValueRange& r :
       {ValueRange{0, 6}, ValueRange{-1, 3}, ValueRange{-2.7f, 0}, ValueRange{-1e-3f, 1e3f}})
    for (const DType type : {DType::kU8, DType::kI8}) {
      const ActivationScale s = ScaleOf(r, type);
      const int lowest = type == DType::kI8 ? -128 : 0;
      EXPECT_GE(s.zero, lowest);
      EXPECT_LE(s.zero, lowest + 255);
      EXPECT_NEAR(float(lowest - s.zero) * s.scale, r.low, 0.51f * s.scale);
      EXPECT_NEAR(float(lowest + 255 - s.zero) * s.scale, r.high, 0.51f * s.scale);
    }
}

TEST(WeightScaleOf, WeightsOnAGridAreExact) {
  std::mt19937 random(1);
  for (const float step : {0.0123f, 3.7f}) {
    std::vector<float> weights;
    for (int i = 0; i < 50; ++i)
      weights.push_back(step * float(std::uniform_int_distribution<int>(-90, 90)(random)));
    const Tensor t = Tensor::Floats({1, 50}, weights);
    const QuantizedWeights q = QuantizeWeights(t, 0, WeightScalesOf(t, 0));
    const Tensor back = Dequantized(q, 0);
    // two roundings of f32
    for (int i = 0; i < 50; ++i) EXPECT_NEAR(back.as<float>()[i], weights[size_t(i)], 3e-7f * 90 * step);
  }
}

TEST(WeightScaleOf, IsNoWorseThanTheLargestWeight) {
  std::mt19937 random(2);
  std::vector<float> weights(1000);
  for (float& w : weights) w = std::normal_distribution<float>(0, 1)(random);
  const auto error = [&](float scale) {
    double e = 0;
    for (const float w : weights) {
      const double q = std::clamp(std::nearbyint(w / scale), -127.0f, 127.0f);
      e += (double(w) - q * double(scale)) * (double(w) - q * double(scale));
    }
    return e;
  };
  float largest = 0;
  for (const float w : weights) largest = std::max(largest, std::abs(w));
  EXPECT_LE(error(WeightScaleOf(weights)), error(largest / 127) * 1.0001);
  EXPECT_EQ(WeightScaleOf(std::vector<float>(5)), 0);
}

// The reciprocal of their scale is no float.
TEST(WeightScaleOf, WeightsThatAreAllBut0HaveNoScale) {
  for (const float largest : {1e-45f, 1e-40f, 1e-12f}) {
    const std::vector<float> weights{0, largest, -largest / 3};
    EXPECT_EQ(WeightScaleOf(weights), 0) << largest;
  }
  const std::vector<float> small{0, 1e-10f, -3e-11f};
  const Tensor t = Tensor::Floats({1, 3}, small);
  const std::vector<float> scales = WeightScalesOf(t, 0);
  const Tensor back = Dequantized(QuantizeWeights(t, 0, scales), 0);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(back.as<float>()[i], small[size_t(i)], 0.51f * scales[0]);
}

TEST(QuantizeWeights, EachChannelHasItsOwnScale) {
  const float values[] = {100, -50, 0.1f, 0.2f, 1, 1};  // channels along axis 1: {100, 0.1, 1}, ...
  const Tensor t = Tensor::Floats({3, 2}, values);
  const std::vector<float> scales = WeightScalesOf(t, 1);
  ASSERT_EQ(scales.size(), 2u);
  const QuantizedWeights q = QuantizeWeights(t, 1, scales);
  const Tensor back = Dequantized(q, 1);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(back.as<float>()[i], values[i], 0.51f * scales[size_t(i % 2)]);
}

}  // namespace
}  // namespace mete
