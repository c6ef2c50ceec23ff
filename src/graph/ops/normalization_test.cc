#include <gtest/gtest.h>

#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

const Shape kIn{2, 6, 4, 4};
const Shape kC{6};

TEST(NormalizationInfer, ParametersHaveOneElementAChannel) {
  EXPECT_EQ(InferText("BatchNormalization", {}, {kIn, kC, kC, kC, kC}), "f32 2x6x4x4");
  EXPECT_EQ(InferText("BatchNormalization", {}, {kIn, kC, kC, Shape{4}, kC}),
            "error: [node] input 3 has the wrong shape; got 4, expected 6");
  EXPECT_EQ(InferText("BatchNormalization", Attrs({{"layout", std::string("NHWC")}}),
                      {Shape{2, 4, 4, 6}, kC, kC, kC, kC}),
            "f32 2x4x4x6");
  EXPECT_EQ(InferText("BatchNormalization", Attrs({{"training_mode", int64_t(1)}}), {kIn, kC, kC, kC, kC}, 3),
            "f32 2x6x4x4, f32 6, f32 6");
  EXPECT_EQ(InferText("InstanceNormalization", {}, {kIn, kC, kC}), "f32 2x6x4x4");
}

TEST(NormalizationInfer, GroupsDivideTheChannels) {
  EXPECT_EQ(InferText("GroupNormalization", Attrs({{"num_groups", int64_t(3)}}), {kIn, kC, kC}),
            "f32 2x6x4x4");
  EXPECT_EQ(
      InferText("GroupNormalization", Attrs({{"num_groups", int64_t(4)}}), {kIn, kC, kC}),
      "error: [node] num_groups does not divide the channels; got 4, expected a divisor of 6 from 1 on");
  EXPECT_EQ(
      InferText("GroupNormalization", Attrs({{"num_groups", int64_t(0)}}), {kIn, kC, kC}),
      "error: [node] num_groups does not divide the channels; got 0, expected a divisor of 6 from 1 on");
  EXPECT_NE(InferText("GroupNormalization", {}, {kIn, kC, kC}).find("num_groups"), std::string::npos);
}

TEST(NormalizationInfer, LayerNormalizationGivesItsStatistics) {
  const Attributes axis = Attrs({{"axis", int64_t(2)}});
  EXPECT_EQ(InferText("LayerNormalization", axis, {kIn, Shape{4, 4}, Shape{4}}, 3),
            "f32 2x6x4x4, f32 2x6x1x1, f32 2x6x1x1");
  EXPECT_NE(InferText("LayerNormalization", axis, {kIn, Shape{3, 4}}).find("cannot be broadcast"),
            std::string::npos);
  EXPECT_EQ(InferText("RMSNormalization", {}, {Shape{2, 1}, Shape{3}}),
            "error: [node] input 1 cannot be broadcast to input 0; got 3, expected to fit 2x1");
}

TEST(NormalizationInfer, AttributesAreChecked) {
  EXPECT_NE(InferText("LRN", {}, {kIn}).find("size must be positive"), std::string::npos);
  EXPECT_NE(InferText("mete.LRNWithin", Attrs({{"size", int64_t(4)}}), {kIn}).find("odd"), std::string::npos);
  EXPECT_NE(InferText("LpNormalization", Attrs({{"p", int64_t(3)}}), {kIn}).find("expected 1 or 2"),
            std::string::npos);
  EXPECT_NE(InferText("MeanVarianceNormalization", {}, {Shape{2, 3}}).find("wrong number of dimensions"),
            std::string::npos);
  EXPECT_EQ(InferText("MeanVarianceNormalization", Attrs({{"axes", Ints{1}}}), {Shape{2, 3}}), "f32 2x3");
  EXPECT_NE(InferText("mete.Normalize", Attrs({{"channel_shared", int64_t(0)}}), {kIn, Shape{1}})
                .find("expected 6"),
            std::string::npos);
}

}  // namespace
}  // namespace mete
