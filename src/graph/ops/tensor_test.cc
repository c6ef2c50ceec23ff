#include <gtest/gtest.h>

#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

Tensor L(const std::vector<int64_t>& values) { return Tensor::Ints(values); }
const TestInput kUnknownList(DType::kI64, {2});

TEST(ReshapeInfer, ZeroCopiesAndMinusOneFills) {
  EXPECT_EQ(InferText("Reshape", {}, {Shape{2, 3, 4}, L({0, -1})}), "f32 2x12");
  EXPECT_EQ(InferText("Reshape", {}, {Shape{2, 3, 4}, L({})}),
            "error: [node] shapes have different numbers of elements; got scalar for 2x3x4");
  EXPECT_EQ(InferText("Reshape", {}, {Shape{0, 3}, L({3, 0})}),
            "error: [node] shapes have different numbers of elements; got 3x3 for 0x3");
  EXPECT_EQ(InferText("Reshape", Attrs({{"allowzero", int64_t(1)}}), {Shape{0, 3}, L({3, 0})}), "f32 3x0");
}

TEST(ReshapeInfer, RefusesWhatCannotBe) {
  EXPECT_EQ(InferText("Reshape", {}, {Shape{2, 3}, L({-1, -1})}),
            "error: [node] more than one dimension is -1; got [-1, -1]");
  EXPECT_EQ(InferText("Reshape", {}, {Shape{2, 3}, L({-1, 4})}),
            "error: [node] cannot tell the dimension that is -1; got 2x3 for [-1, 4]");
  EXPECT_EQ(InferText("Reshape", {}, {Shape{2, 3}, L({-2, 3})}),
            "error: [node] output has a negative dimension; got -2");
  EXPECT_EQ(InferText("Reshape", {}, {Shape{2, 3}, L({INT64_MAX, 4})}).substr(0, 35),
            "error: [node] a dimension overflows");
}

TEST(ReshapeInfer, IsUnknownWithoutTheShape) {
  EXPECT_EQ(InferText("Reshape", {}, {Shape{4}, kUnknownList}), "f32 ?");
}

TEST(ReshapeInfer, RefusesAShapeOfFloats) {
  EXPECT_EQ(
      InferText("Reshape", {}, {Shape{4}, Shape{1}}),
      "error: [node] input 1 has a type that this operator does not take; got f32, expected one of i32 i64");
}

TEST(FlattenInfer, AxisMayBeNegativeOrTheRank) {
  EXPECT_EQ(InferText("Flatten", {}, {Shape{2, 3, 4}}), "f32 2x12");
  EXPECT_EQ(InferText("Flatten", Attrs({{"axis", int64_t(-1)}}), {Shape{2, 3, 4}}), "f32 6x4");
  EXPECT_EQ(InferText("Flatten", Attrs({{"axis", int64_t(3)}}), {Shape{2, 3, 4}}), "f32 24x1");
  EXPECT_EQ(InferText("Flatten", Attrs({{"axis", int64_t(4)}}), {Shape{2, 3, 4}}),
            "error: [node] axis is out of range; got 4, expected -3 to 3");
}

TEST(TransposeInfer, ReversesOrPermutes) {
  EXPECT_EQ(InferText("Transpose", {}, {Shape{2, 3, 4}}), "f32 4x3x2");
  EXPECT_EQ(InferText("Transpose", Attrs({{"perm", Ints{0, 2, 1}}}), {Shape{2, 3, 4}}), "f32 2x4x3");
  EXPECT_EQ(InferText("Transpose", Attrs({{"perm", Ints{0, 2, 2}}}), {Shape{2, 3, 4}}),
            "error: [node] an axis is given twice; got 2 again, expected each once");
  EXPECT_EQ(InferText("Transpose", Attrs({{"perm", Ints{-3, 2, 1}}}), {Shape{2, 3, 4}}),
            "error: [node] perm is out of range; got -3, expected 0 to 2");
}

TEST(ConcatInfer, SumsOneDimension) {
  EXPECT_EQ(InferText("Concat", Attrs({{"axis", int64_t(-1)}}), {Shape{2, 3}, Shape{2, 5}}), "f32 2x8");
  EXPECT_EQ(InferText("Concat", Attrs({{"axis", int64_t(0)}}), {Shape{2, 3}, Shape{2, 5}}),
            "error: [node] inputs differ in dimension 1; got 2x3 and 2x5, axis is 0");
  EXPECT_EQ(InferText("Concat", Attrs({{"axis", int64_t(0)}}), {Shape{2}, TestInput(DType::kI32, {2})}),
            "error: [node] inputs 0 and 1 must have one element type; got f32 and i32");
}

TEST(SplitInfer, EqualPartsLeaveTheRestToTheLast) {
  EXPECT_EQ(InferText("Split", Attrs({{"num_outputs", int64_t(4)}}), {Shape{7}}, 4),
            "f32 2, f32 2, f32 2, f32 1");
  EXPECT_EQ(InferText("Split", Attrs({{"num_outputs", int64_t(4)}}), {Shape{5}}, 4),
            "error: [node] cannot split 5 into 4 parts");
  EXPECT_EQ(InferText("Split", Attrs({{"axis", int64_t(1)}}), {Shape{2, 5}, L({2, 3})}, 2),
            "f32 2x2, f32 2x3");
  EXPECT_EQ(InferText("Split", {}, {Shape{5}, L({2, 2})}, 2),
            "error: [node] sizes do not sum to dimension 0; got 4, expected 5");
  EXPECT_EQ(InferText("Split", {}, {Shape{5}, kUnknownList}, 2), "f32 ?, f32 ?");
}

TEST(SliceInfer, ClampsAndStepsBackwards) {
  EXPECT_EQ(InferText("Slice", {}, {Shape{20, 10}, L({0, 0}), L({3, 10}), L({0, 1}), L({1, 1})}), "f32 3x10");
  EXPECT_EQ(InferText("Slice", {}, {Shape{10}, L({-1}), L({INT64_MIN}), L({0}), L({-3})}), "f32 4");
  EXPECT_EQ(InferText("Slice", {}, {Shape{10}, L({2}), L({INT64_MAX}), L({0}), L({INT64_MAX})}), "f32 1");
  EXPECT_EQ(InferText("Slice", {}, {Shape{10}, L({9}), L({INT64_MIN}), L({0}), L({INT64_MIN})}), "f32 1");
  EXPECT_EQ(InferText("Slice", {}, {Shape{10}, L({12}), L({20})}), "f32 0");
  EXPECT_EQ(InferText("Slice", {}, {Shape{10}, L({1}), L({2}), L({0}), L({0})}),
            "error: [node] step is impossible for axis 0; got 0, expected another number");
}

TEST(SqueezeInfer, DropsOnesOnly) {
  EXPECT_EQ(InferText("Squeeze", {}, {Shape{1, 3, 1}}), "f32 3");
  EXPECT_EQ(InferText("Squeeze", {}, {Shape{1, 3, 1}, L({-1})}), "f32 1x3");
  EXPECT_EQ(InferText("Squeeze", {}, {Shape{1, 3, 1}, L({1})}),
            "error: [node] dimension 1 cannot be removed; got 3, expected 1");
}

TEST(UnsqueezeInfer, CountsAxesInTheOutput) {
  EXPECT_EQ(InferText("Unsqueeze", {}, {Shape{3, 4}, L({-1, 0})}), "f32 1x3x4x1");
  EXPECT_EQ(InferText("Unsqueeze", {}, {Shape{3, 4}, L({0, -4})}),
            "error: [node] an axis is given twice; got 0 again, expected each once");
}

TEST(ExpandInfer, BroadcastsBothWays) {
  EXPECT_EQ(InferText("Expand", {}, {Shape{3, 1}, L({2, 1, 6})}), "f32 2x3x6");
  EXPECT_EQ(InferText("Expand", {}, {Shape{3}, L({2})}),
            "error: [node] shapes cannot be broadcast together; got 3 and 2");
}

TEST(TileInfer, Multiplies) {
  EXPECT_EQ(InferText("Tile", {}, {Shape{2, 3}, L({2, 0})}), "f32 4x0");
  EXPECT_EQ(InferText("Tile", {}, {Shape{2, 3}, L({INT64_MAX, 1})}).substr(0, 35),
            "error: [node] a dimension overflows");
}

TEST(PadInfer, AddsAndRemoves) {
  EXPECT_EQ(InferText("Pad", {}, {Shape{3, 4}, L({0, 2, -1, 1})}), "f32 2x7");
  EXPECT_EQ(InferText("Pad", {}, {Shape{3, 4}, L({1, 1}), {}, L({-1})}), "f32 3x6");
  EXPECT_EQ(InferText("Pad", {}, {Shape{3}, L({-2, -2})}),
            "error: [node] pads remove more than there is; got -2 and -2 for dimension 0 of 3");
  EXPECT_EQ(InferText("Pad", Attrs({{"mode", std::string("edge")}}), {Shape{0}, L({1, 1})}),
            "error: [node] mode edge has nothing to repeat in dimension 0");
}

TEST(RangeInfer, CountsUpAndDown) {
  const auto i = [](int64_t v) {
    return Tensor::Of<int64_t>(DType::kI64, {}, std::span<const int64_t>(&v, 1));
  };
  EXPECT_EQ(InferText("Range", {}, {i(10), i(4), i(-2)}), "i64 3");
  EXPECT_EQ(InferText("Range", {}, {i(1), i(1), i(3)}), "i64 0");
  EXPECT_EQ(InferText("Range", {}, {i(1), i(2), i(0)}),
            "error: [node] delta is impossible; got 0, expected another number");
  EXPECT_EQ(
      InferText("Range", {}, {i(INT64_MIN), i(INT64_MAX), i(1)}),
      "error: [node] range has too many elements; got -9223372036854775808 to 9223372036854775807 by 1");
}

TEST(ShapeInfer, CutsTheRank) {
  EXPECT_EQ(InferText("Shape", Attrs({{"start", int64_t(-3)}, {"end", int64_t(-1)}}), {Shape{3, 4, 5}}),
            "i64 2");
  EXPECT_EQ(InferText("Shape", Attrs({{"start", int64_t(-10)}}), {Shape{3, 4, 5}}), "i64 3");
  EXPECT_EQ(InferText("Shape", Attrs({{"start", int64_t(2)}, {"end", int64_t(1)}}), {Shape{3, 4, 5}}),
            "i64 0");
}

TEST(DepthToSpaceInfer, KnowsBothLayouts) {
  const auto nhwc = Attrs({{"blocksize", int64_t(2)}, {"layout", std::string("NHWC")}});
  EXPECT_EQ(InferText("DepthToSpace", Attrs({{"blocksize", int64_t(2)}}), {Shape{1, 8, 2, 3}}),
            "f32 1x2x4x6");
  EXPECT_EQ(InferText("DepthToSpace", nhwc, {Shape{1, 2, 3, 8}}), "f32 1x4x6x2");
  EXPECT_EQ(InferText("SpaceToDepth", nhwc, {Shape{1, 4, 6, 2}}), "f32 1x2x3x8");
  EXPECT_EQ(InferText("DepthToSpace", {}, {Shape{1, 8, 2, 3}}),
            "error: [node] blocksize is impossible; got 0");
}

TEST(OneHotInfer, InsertsTheDepth) {
  const Tensor depth = Tensor::Floats({}, std::vector<float>{12});
  EXPECT_EQ(InferText("OneHot", Attrs({{"axis", int64_t(1)}}),
                      {TestInput(DType::kI64, {2, 3}), depth, TestInput(DType::kI32, {2})}),
            "i32 2x12x3");
  EXPECT_EQ(InferText("OneHot", {},
                      {TestInput(DType::kI64, {2}), Tensor::Floats({}, std::vector<float>{-1}), Shape{2}}),
            "error: [node] depth is impossible; got -1");
}

TEST(NonZeroInfer, NeverKnowsItsShape) { EXPECT_EQ(InferText("NonZero", {}, {L({1, 0})}), "i64 ?"); }

TEST(EyeLikeInfer, TakesATypeByName) {
  EXPECT_EQ(InferText("EyeLike", Attrs({{"dtype", std::string("f64")}}), {TestInput(DType::kI32, {3, 4})}),
            "f64 3x4");
  EXPECT_EQ(InferText("EyeLike", Attrs({{"dtype", std::string("x")}}), {Shape{3, 4}}),
            "error: [node] dtype is not an element type; got x");
}

}  // namespace
}  // namespace mete
