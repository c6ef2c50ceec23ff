#include <gtest/gtest.h>

#include "kernels/reference/number.h"
#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

const float kRoot = std::sqrt(1.5f);  // the normalized values of 1, 2, 3 are -kRoot, 0, kRoot

TEST(BatchNormalization, UsesTheStoredStatisticsOfEachChannel) {
  const Tensor scale = F({2}, {2, 3}), bias = F({2}, {1, -1}), mean = F({2}, {1, 0}),
               variance = F({2}, {4, 1});
  const Attributes exact = Attrs({{"epsilon", 0.f}});
  ExpectNear(
      RunFor<float>("BatchNormalization", exact, {F({1, 2, 2}, {1, 3, 1, 2}), scale, bias, mean, variance}),
      {1, 3, 2, 5}, 1e-6);
  const Attributes nhwc = Attrs({{"epsilon", 0.f}, {"layout", std::string("NHWC")}});
  ExpectNear(
      RunFor<float>("BatchNormalization", nhwc, {F({1, 2, 1, 2}, {1, 1, 3, 2}), scale, bias, mean, variance}),
      {1, 2, 3, 5}, 1e-6);
}

TEST(BatchNormalization, TrainingMovesTheRunningStatistics) {
  const Attributes a = Attrs({{"epsilon", 0.f}, {"training_mode", int64_t(1)}, {"momentum", 0.5f}});
  const auto out = RunOp("BatchNormalization", a,
                         {F({3, 1}, {1, 2, 3}), F({1}, {1}), F({1}, {0}), F({1}, {4}), F({1}, {2})}, 3);
  EXPECT_NEAR(out[0].as<float>()[2], kRoot, 1e-6);
  EXPECT_NEAR(out[1].as<float>()[0], 3, 1e-6);
  EXPECT_NEAR(out[2].as<float>()[0], 1 + 1 / 3.f, 1e-6);
}

TEST(GroupNormalization, GroupsShareStatisticsButNotParameters) {
  const Attributes a = Attrs({{"num_groups", int64_t(1)}, {"epsilon", 0.f}});
  ExpectNear(
      RunFor<float>("GroupNormalization", a, {F({1, 3, 1}, {1, 2, 3}), F({3}, {1, 1, 2}), F({3}, {0, 5, 0})}),
      {-kRoot, 5, 2 * kRoot}, 1e-6);
}

TEST(InstanceNormalization, IsPerSampleAndChannel) {
  const Tensor x = F({2, 2, 3}, {1, 2, 3, 10, 20, 30, 3, 2, 1, 0, 0, 0});
  ExpectNear(RunFor<float>("InstanceNormalization", Attrs({{"epsilon", 1e-12f}}),
                           {x, F({2}, {1, 2}), F({2}, {0, 1})}),
             {-kRoot, 0, kRoot, 1 - 2 * kRoot, 1, 1 + 2 * kRoot, kRoot, 0, -kRoot, 1, 1, 1}, 1e-5);
}

TEST(LayerNormalization, GivesMeanAndInverseDeviation) {
  const auto out = RunOp("LayerNormalization", Attrs({{"epsilon", 0.f}}),
                         {F({2, 3}, {1, 2, 3, 5, 3, 1}), F({3}, {1, 2, 3}), F({1}, {1})}, 3);
  ExpectNear(std::vector<float>(out[0].as<float>(), out[0].as<float>() + 6),
             {1 - kRoot, 1, 1 + 3 * kRoot, 1 + kRoot, 1, 1 - 3 * kRoot}, 1e-6);
  EXPECT_EQ(ToString(out[1].shape()), "2x1");
  EXPECT_EQ(out[1].as<float>()[1], 3);
  EXPECT_NEAR(out[2].as<float>()[1], kRoot / 2, 1e-6);
}

TEST(LayerNormalization, AxisCoversAllLaterDimensions) {
  std::vector<float> x(8), scale(4, 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i);
  const float s = 1 / std::sqrt(1.25f);
  ExpectNear(RunFor<float>("LayerNormalization", Attrs({{"axis", int64_t(1)}, {"epsilon", 0.f}}),
                           {F({2, 2, 2}, x), F({2, 2}, scale)}),
             {-1.5f * s, -0.5f * s, 0.5f * s, 1.5f * s, -1.5f * s, -0.5f * s, 0.5f * s, 1.5f * s}, 1e-6);
}

TEST(RmsNormalization, KeepsTheMean) {
  ExpectNear(
      RunFor<float>("RMSNormalization", Attrs({{"epsilon", 0.f}}), {F({1, 2}, {1, 7}), F({2}, {1, 2})}),
      {0.2f, 2.8f}, 1e-6);
}

TEST(RmsNormalization, ReadsAScaleOfAnotherType) {
  const Tensor scale = MakeTensor<double>(DType::kF64, {2}, {1, 2});
  ExpectNear(RunFor<float>("RMSNormalization", Attrs({{"epsilon", 0.f}}), {F({1, 2}, {1, 7}), scale}),
             {0.2f, 2.8f}, 1e-6);
}

TEST(Lrn, EvenWindowsReachFurtherForward) {
  const Attributes a = Attrs({{"size", int64_t(2)}, {"alpha", 2.f}, {"beta", 1.f}, {"bias", 1.f}});
  ExpectNear(RunFor<float>("LRN", a, {F({1, 3, 1}, {1, 2, 3})}), {1 / 6.f, 2 / 14.f, 3 / 10.f}, 1e-6);
}

TEST(Lrn, NhwcHasItsChannelsLast) {
  const Attributes a =
      Attrs({{"size", int64_t(3)}, {"alpha", 3.f}, {"beta", 1.f}, {"layout", std::string("NHWC")}});
  ExpectNear(RunFor<float>("LRN", a, {F({1, 1, 2, 2}, {1, 2, 3, 0})}), {1 / 6.f, 2 / 6.f, 3 / 10.f, 0}, 1e-6);
}

TEST(LrnWithin, AveragesOverTheWholeWindowIncludingPadding) {
  const Attributes a = Attrs({{"size", int64_t(3)}, {"alpha", 9.f}, {"beta", 1.f}});
  ExpectNear(RunFor<float>("mete.LRNWithin", a, {F({1, 1, 1, 3}, {1, 2, 3})}), {1 / 6.f, 2 / 15.f, 3 / 14.f},
             1e-6);
}

TEST(LpNormalization, ZeroLinesStayZero) {
  ExpectNear(RunFor<float>("LpNormalization", {}, {F({2, 2}, {3, 4, 0, 0})}), {0.6f, 0.8f, 0, 0}, 1e-6);
  ExpectNear(RunFor<float>("LpNormalization", Attrs({{"p", int64_t(1)}, {"axis", int64_t(0)}}),
                           {F({2, 2}, {3, 4, -1, 0})}),
             {0.75f, 1, -0.25f, 0}, 1e-6);
}

TEST(MeanVarianceNormalization, NormalizesOverItsAxes) {
  ExpectNear(RunFor<float>("MeanVarianceNormalization", {}, {F({3, 1, 1, 1}, {1, 2, 3})}), {-kRoot, 0, kRoot},
             1e-6);
  ExpectNear(RunFor<float>("MeanVarianceNormalization", Attrs({{"axes", Ints{-1}}}),
                           {F({2, 3}, {1, 2, 3, 4, 4, 4})}),
             {-kRoot, 0, kRoot, 0, 0, 0}, 1e-6);
}

TEST(CaffeNormalize, AcrossSpatialOrPerPixel) {
  const Tensor x = F({1, 2, 1, 2}, {3, 0, 4, 5});
  const Attributes pixel = Attrs({{"across_spatial", int64_t(0)}, {"channel_shared", int64_t(0)}});
  ExpectNear(RunFor<float>("mete.Normalize", pixel, {x, F({2}, {10, 20})}), {6, 0, 16, 20}, 1e-6);
  const float norm = std::sqrt(50.f);
  ExpectNear(RunFor<float>("mete.Normalize", {}, {x, F({1}, {10})}), {30 / norm, 0, 40 / norm, 50 / norm},
             1e-6);
}

TEST(Normalizations, EmptyTensorsAreFine) {
  EXPECT_TRUE(RunFor<float>("GroupNormalization", Attrs({{"num_groups", int64_t(1)}}),
                            {F({0, 1, 2}, {}), F({1}, {1}), F({1}, {0})})
                  .empty());
  EXPECT_TRUE(RunFor<float>("InstanceNormalization", {}, {F({2, 0, 2}, {}), F({0}, {}), F({0}, {})}).empty());
  EXPECT_TRUE(RunFor<float>("LayerNormalization", {}, {F({2, 0}, {}), F({0}, {})}).empty());
  EXPECT_TRUE(RunFor<float>("LpNormalization", {}, {F({2, 0}, {})}).empty());
}

}  // namespace
}  // namespace mete
