#include <gtest/gtest.h>

#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

TestInput Idx(const Shape& shape) { return TestInput(DType::kI64, shape); }
Tensor L(const std::vector<int64_t>& values) { return Tensor::Ints(values); }

TEST(GatherInfer, PutsTheIndicesShapeInPlaceOfTheAxis) {
  EXPECT_EQ(InferText("Gather", Attrs({{"axis", int64_t(-2)}}), {Shape{2, 3, 4}, Idx({5, 6})}),
            "f32 2x5x6x4");
  EXPECT_EQ(InferText("Gather", {}, {Shape{3}, Idx({})}), "f32 scalar");
  EXPECT_EQ(
      InferText("Gather", {}, {Shape{3}, Shape{1}}),
      "error: [node] input 1 has a type that this operator does not take; got f32, expected one of i32 i64");
  EXPECT_EQ(InferText("Gather", Attrs({{"axis", int64_t(1)}}), {Shape{3}, Idx({1})}),
            "error: [node] axis is out of range; got 1, expected -1 to 0");
}

TEST(GatherElementsInfer, IndicesMayBeLongerAlongTheAxisOnly) {
  EXPECT_EQ(InferText("GatherElements", {}, {Shape{2, 3}, Idx({5, 2})}), "f32 5x2");
  EXPECT_EQ(InferText("GatherElements", {}, {Shape{2, 3}, Idx({1, 4})}),
            "error: [node] indices pass the data in dimension 1; got 1x4, expected at most 2x3");
}

TEST(GatherNDInfer, SharesBatchDimensions) {
  EXPECT_EQ(InferText("GatherND", Attrs({{"batch_dims", int64_t(1)}}), {Shape{2, 3, 4}, Idx({2, 5, 1})}),
            "f32 2x5x4");
  EXPECT_EQ(InferText("GatherND", {}, {Shape{2, 3}, Idx({4, 2})}), "f32 4");
  EXPECT_EQ(InferText("GatherND", {}, {Shape{2, 3}, Idx({4, 3})}),
            "error: [node] index tuples have the wrong length; got 3, expected 1 to 2");
}

TEST(ScatterInfer, ChecksTheUpdates) {
  EXPECT_EQ(InferText("ScatterND", {}, {Shape{4, 3}, Idx({2, 1}), Shape{2, 3}}), "f32 4x3");
  EXPECT_EQ(InferText("ScatterND", {}, {Shape{4, 3}, Idx({2, 1}), Shape{2, 2}}),
            "error: [node] input 2 has the wrong shape; got 2x2, expected 2x3");
  EXPECT_EQ(InferText("ScatterElements", {}, {Shape{4, 3}, Idx({2, 1}), Shape{2, 1}}), "f32 4x3");
  EXPECT_EQ(InferText("ScatterElements", Attrs({{"reduction", std::string("xor")}}),
                      {Shape{4}, Idx({2}), Shape{2}}),
            "error: [node] reduction is unknown; got xor, expected none, add, mul, min or max");
}

TEST(UniqueInfer, KnowsTypesButNoShapes) {
  EXPECT_EQ(InferText("Unique", {}, {Shape{4}}, 4), "f32 ?, i64 ?, i64 ?, i64 ?");
  EXPECT_EQ(InferText("Unique", Attrs({{"axis", int64_t(2)}}), {Shape{4}}),
            "error: [node] axis is out of range; got 2, expected -1 to 0");
}

TEST(Col2ImInfer, CountsBlocks) {
  EXPECT_EQ(InferText("Col2Im", {}, {Shape{1, 5, 5}, L({5, 5}), L({1, 5})}), "f32 1x1x5x5");
  EXPECT_EQ(InferText("Col2Im", {}, {Shape{1, 5, 4}, L({5, 5}), L({1, 5})}),
            "error: [node] input has the wrong number of blocks; got 4, expected 5");
  EXPECT_EQ(InferText("Col2Im", {}, {Shape{1, 5, 4}, L({5, 5}), L({0, 5})}),
            "error: [node] image and block are impossible; got 5 and 0 in dimension 0");
}

TEST(NonMaxSuppressionInfer, ChecksBoxesAgainstScores) {
  EXPECT_EQ(InferText("NonMaxSuppression", {}, {Shape{1, 6, 4}, Shape{1, 2, 6}}), "i64 ?");
  EXPECT_EQ(InferText("NonMaxSuppression", {}, {Shape{1, 5, 4}, Shape{1, 2, 6}}),
            "error: [node] input 0 has the wrong shape; got 1x5x4, expected 1x6x4");
}

TEST(DetectionOutputInfer, ChecksPredictionsAndScoresAgainstTheBoxes) {
  const auto infer = [](Attributes a, Shape predictions, Shape scores, Shape boxes) {
    return InferText("mete.DetectionOutput", std::move(a), {predictions, scores, boxes});
  };
  const Attributes two = Attrs({{"num_classes", int64_t(2)}});
  EXPECT_EQ(infer(two, {3, 20}, {3, 10}, {1, 2, 20}), "f32 ?");
  EXPECT_EQ(infer(Attrs({{"num_classes", int64_t(2)}, {"share_location", int64_t(0)}}), {3, 40}, {3, 10},
                  {1, 2, 20}),
            "f32 ?");
  EXPECT_EQ(infer(two, {3, 24}, {3, 10}, {1, 2, 20}),
            "error: [node] input 0 has the wrong shape; got 3x24, expected 3x20");
  EXPECT_EQ(infer(two, {3, 20}, {3, 15}, {1, 2, 20}),
            "error: [node] input 1 has the wrong shape; got 3x15, expected 3x10");
  EXPECT_EQ(infer(two, {3, 20}, {3, 10}, {3, 2, 20}),
            "error: [node] input 2 has the wrong shape; got 3x2x20, expected 1x2x20");
  EXPECT_EQ(infer(two, {3, 0}, {3, 0}, {1, 2, 0}),
            "error: [node] input 2 has no boxes; got shape 1x2x0, expected 1x2x4 or more");
  EXPECT_EQ(infer({}, {3, 20}, {3, 10}, {1, 2, 20}), "error: [node] num_classes must be from 1 on; got 0");
  EXPECT_EQ(infer(Attrs({{"num_classes", INT64_MAX}}), {3, 20}, {3, 10}, {1, 2, 20}).substr(0, 33),
            "error: [node] a dimension overflo");
  EXPECT_EQ(infer(Attrs({{"num_classes", int64_t(2)}, {"code_type", std::string("corners")}}), {3, 20},
                  {3, 10}, {1, 2, 20}),
            "error: [node] code_type is unknown; got corners, expected corner, center_size or corner_size");
}

TEST(TensorScatterInfer, UpdateFitsTheCache) {
  EXPECT_EQ(InferText("TensorScatter", {}, {Shape{2, 4, 5}, Shape{2, 1, 5}, Idx({2})}), "f32 2x4x5");
  EXPECT_EQ(InferText("TensorScatter", {}, {Shape{2, 4, 5}, Shape{2, 6, 5}}),
            "error: [node] the update is longer than the cache; got 6, expected at most 4");
}

}  // namespace
}  // namespace mete
