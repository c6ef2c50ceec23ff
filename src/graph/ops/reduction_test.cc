#include <gtest/gtest.h>

#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

Tensor Axes(const Ints& axes) { return Tensor::Ints(axes); }
const Shape kIn{2, 3, 4};

TEST(ReduceInfer, KeepsOrDropsTheReducedDimensions) {
  EXPECT_EQ(InferText("ReduceSum", {}, {kIn, Axes({1, -1})}), "f32 2x1x1");
  EXPECT_EQ(InferText("ReduceSum", Attrs({{"keepdims", int64_t(0)}}), {kIn, Axes({1})}), "f32 2x4");
  EXPECT_EQ(InferText("ReduceMean", Attrs({{"keepdims", int64_t(0)}}), {kIn}), "f32 scalar");
}

TEST(ReduceInfer, EmptyAxesMeanAllUnlessNoop) {
  EXPECT_EQ(InferText("ReduceMax", {}, {kIn, Axes({})}), "f32 1x1x1");
  EXPECT_EQ(InferText("ReduceMax", Attrs({{"noop_with_empty_axes", int64_t(1)}}), {kIn, Axes({})}),
            "f32 2x3x4");
  EXPECT_EQ(InferText("ReduceMax", Attrs({{"noop_with_empty_axes", int64_t(1)}}), {kIn}), "f32 2x3x4");
}

TEST(ReduceInfer, AxesNotYetKnownGiveAnUnknownShape) {
  EXPECT_EQ(InferText("ReduceSum", {}, {kIn, {DType::kI64, {1}}}), "f32 ?");
  EXPECT_EQ(InferText("ReduceSum", {}, {kIn, Axes({3})}),
            "error: [node] axis is out of range; got 3, expected -3 to 2");
}

TEST(ArgInfer, GivesIndicesAndRefusesEmptyAxes) {
  EXPECT_EQ(InferText("ArgMax", Attrs({{"axis", int64_t(-1)}, {"keepdims", int64_t(0)}}), {kIn}), "i64 2x3");
  EXPECT_EQ(InferText("ArgMin", {}, {kIn}), "i64 1x3x4");
  EXPECT_NE(InferText("ArgMin", {}, {Shape{0, 3}}).find("no elements to choose from"), std::string::npos);
}

TEST(TopKInfer, TakesKFromItsInput) {
  EXPECT_EQ(InferText("TopK", {}, {kIn, Axes({2})}, 2), "f32 2x3x2, i64 2x3x2");
  EXPECT_EQ(InferText("TopK", {}, {kIn, {DType::kI64, {1}}}, 2), "f32 ?, i64 ?");
  EXPECT_EQ(InferText("TopK", {}, {kIn, Axes({5})}, 2),
            "error: [node] K is out of range for axis 2 of 2x3x4; got 5, expected 0 to 4");
}

TEST(CumulativeInfer, ChecksTheAxis) {
  EXPECT_EQ(InferText("CumSum", {}, {kIn, {DType::kI32, {}}}), "f32 2x3x4");
  EXPECT_EQ(InferText("CumSum", {}, {kIn, Axes({-4})}),
            "error: [node] axis is out of range; got -4, expected -3 to 2");
  EXPECT_NE(InferText("CumProd", {}, {kIn, {DType::kI32, {2}}}).find("axis must be one number"),
            std::string::npos);
}

TEST(SoftmaxInfer, ChecksTheAxis) {
  EXPECT_EQ(InferText("Softmax", {}, {kIn}), "f32 2x3x4");
  EXPECT_EQ(InferText("Hardmax", Attrs({{"axis", int64_t(3)}}), {kIn}),
            "error: [node] axis is out of range; got 3, expected -3 to 2");
}

}  // namespace
}  // namespace mete
