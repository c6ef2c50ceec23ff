#include <gtest/gtest.h>

#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

Tensor L(const std::vector<int64_t>& values) { return Tensor::Ints(values); }
Tensor Scales(const std::vector<float>& values) { return Tensor::Floats({int64_t(values.size())}, values); }

TEST(ResizeInfer, ScalesRoundDownInFloat) {
  EXPECT_EQ(InferText("Resize", {}, {Shape{1, 1, 2, 4}, {}, Scales({1, 1, 0.6f, 1.5f})}), "f32 1x1x1x6");
  EXPECT_EQ(InferText("Resize", {}, {Shape{10}, {}, Scales({0.7f})}), "f32 7");
  EXPECT_EQ(InferText("Resize", {}, {Shape{10}, {}, Scales({-1})}),
            "error: [node] scale is impossible; got -1 for dimension 0 of 10");
  EXPECT_EQ(InferText("Resize", {}, {Shape{10}, {}, TestInput(DType::kF32, {1})}), "f32 ?");
}

TEST(ResizeInfer, SizesKeepTheAspectWhereAsked) {
  const auto with = [](const char* policy) {
    return InferText("Resize",
                     Attrs({{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", std::string(policy)}}),
                     {Shape{1, 1, 2, 4}, {}, {}, L({6, 8})});
  };
  EXPECT_EQ(with("stretch"), "f32 1x1x6x8");
  EXPECT_EQ(with("not_larger"), "f32 1x1x4x8");
  EXPECT_EQ(with("not_smaller"), "f32 1x1x6x12");
  EXPECT_EQ(with("odd"), "error: [node] keep_aspect_ratio_policy is unknown; got odd");
}

TEST(ResizeInfer, NeedsScalesOrSizes) {
  EXPECT_EQ(InferText("Resize", {}, {Shape{4}}), "error: [node] needs either scales or sizes; got neither");
  EXPECT_EQ(InferText("Resize", {}, {Shape{4}, {}, Scales({1}), L({4})}),
            "error: [node] needs either scales or sizes; got both");
  EXPECT_EQ(InferText("Resize", {}, {Shape{4}, {}, Scales({}), L({8})}), "f32 8");
  EXPECT_EQ(
      InferText("Resize", Attrs({{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}),
                {Shape{4}, {}, Scales({1})}),
      "error: [node] tf_crop_and_resize needs roi");
}

TEST(GridSampleInfer, TakesTheGridsSize) {
  EXPECT_EQ(InferText("GridSample", {}, {Shape{2, 3, 4, 5}, Shape{2, 6, 7, 2}}), "f32 2x3x6x7");
  EXPECT_EQ(InferText("GridSample", {}, {Shape{2, 3, 4, 5}, Shape{2, 6, 7, 3}}),
            "error: [node] grid does not fit the input; got 2x6x7x3 for 2x3x4x5, expected 2 x ... x 2");
}

TEST(AffineGridInfer, DropsTheChannels) {
  EXPECT_EQ(InferText("AffineGrid", {}, {Shape{2, 2, 3}, L({2, 9, 5, 6})}), "f32 2x5x6x2");
  EXPECT_EQ(InferText("AffineGrid", {}, {Shape{2, 3, 4}, L({2, 9, 4, 5, 6})}), "f32 2x4x5x6x3");
  EXPECT_EQ(InferText("AffineGrid", {}, {Shape{2, 2, 3}, L({3, 9, 5, 6})}),
            "error: [node] input 0 has the wrong shape; got 2x2x3, expected 3x2x3");
}

TEST(RoiAlignInfer, OneOutputARegion) {
  const auto size = Attrs({{"output_height", int64_t(5)}, {"output_width", int64_t(6)}});
  EXPECT_EQ(InferText("RoiAlign", size, {Shape{1, 3, 8, 8}, Shape{4, 4}, TestInput(DType::kI64, {4})}),
            "f32 4x3x5x6");
  EXPECT_EQ(InferText("RoiAlign", size, {Shape{1, 3, 8, 8}, Shape{4, 5}, TestInput(DType::kI64, {4})}),
            "error: [node] input 1 has the wrong shape; got 4x5, expected 4x4");
}

TEST(MaxRoiPoolInfer, OneOutputARegion) {
  const auto size = Attrs({{"pooled_shape", Ints{5, 6}}});
  EXPECT_EQ(InferText("MaxRoiPool", size, {Shape{1, 3, 8, 8}, Shape{4, 5}}), "f32 4x3x5x6");
  EXPECT_EQ(InferText("MaxRoiPool", size, {Shape{1, 3, 8, 8}, Shape{4, 4}}),
            "error: [node] input 1 has the wrong shape; got 4x4, expected 4x5");
  EXPECT_EQ(InferText("MaxRoiPool", Attrs({{"pooled_shape", Ints{5}}}), {Shape{1, 3, 8, 8}, Shape{4, 5}}),
            "error: [node] pooled_shape must be a height and a width from 1 on");
}

TEST(MaxUnpoolInfer, UndoesThePooling) {
  const auto pool = Attrs({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const TestInput indices(DType::kI64, {1, 1, 2, 2});
  EXPECT_EQ(InferText("MaxUnpool", pool, {Shape{1, 1, 2, 2}, indices}), "f32 1x1x4x4");
  EXPECT_EQ(InferText("MaxUnpool", pool, {Shape{1, 1, 2, 2}, indices, L({1, 1, 5, 5})}), "f32 1x1x5x5");
  EXPECT_EQ(InferText("MaxUnpool", pool, {Shape{1, 1, 2, 2}, indices, L({1, 1, 3, 5})}),
            "error: [node] output_shape is too small; got 1x1x3x5, expected at least 1x1x4x4");
}

}  // namespace
}  // namespace mete
