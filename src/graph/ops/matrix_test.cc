#include <gtest/gtest.h>

#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

TEST(MatMulInfer, BroadcastsBatchesAndDropsAddedDimensions) {
  EXPECT_EQ(InferText("MatMul", {}, {Shape{5, 1, 2, 3}, Shape{4, 3, 6}}), "f32 5x4x2x6");
  EXPECT_EQ(InferText("MatMul", {}, {Shape{3}, Shape{4, 3, 6}}), "f32 4x6");
  EXPECT_EQ(InferText("MatMul", {}, {Shape{4, 2, 3}, Shape{3}}), "f32 4x2");
  EXPECT_EQ(InferText("MatMul", {}, {Shape{3}, Shape{3}}), "f32 scalar");
}

TEST(MatMulInfer, RefusesWhatDoesNotFit) {
  EXPECT_EQ(InferText("MatMul", {}, {Shape{2, 3}, Shape{4, 5}}),
            "error: [node] inner dimensions differ; got 2x3 and 4x5, expected 4 to be 3");
  EXPECT_NE(InferText("MatMul", {}, {Shape{}, Shape{1}}).find("wrong number of dimensions"),
            std::string::npos);
  EXPECT_NE(InferText("MatMul", {}, {Shape{2, 1, 1}, Shape{3, 1, 1}}).find("cannot be broadcast"),
            std::string::npos);
}

TEST(GemmInfer, TransposesAndChecksC) {
  const Attributes both = Attrs({{"transA", int64_t(1)}, {"transB", int64_t(1)}});
  EXPECT_EQ(InferText("Gemm", both, {Shape{3, 2}, Shape{4, 3}, Shape{1, 4}}), "f32 2x4");
  EXPECT_EQ(InferText("Gemm", {}, {Shape{2, 3}, Shape{3, 4}, Shape{}}), "f32 2x4");
  EXPECT_EQ(InferText("Gemm", {}, {Shape{1, 3}, Shape{3, 4}, Shape{2, 4}}),
            "error: [node] C cannot be broadcast to the product; got 2x4, expected to fit 1x4");
  EXPECT_NE(InferText("Gemm", {}, {Shape{2, 3}, Shape{2, 3}}).find("inner dimensions differ"),
            std::string::npos);
}

TEST(ProductInfer, ChecksWhatPassesAdd) {
  const Attributes fused = Attrs({{"residual", int64_t(1)}, {"activation", std::string("Relu")}});
  EXPECT_EQ(InferText("MatMul", fused, {Shape{5, 2, 3}, Shape{3, 4}, Shape{4}, Shape{5, 2, 4}}), "f32 5x2x4");
  EXPECT_EQ(InferText("Gemm", fused, {Shape{2, 3}, Shape{3, 4}, {}, Shape{2, 4}}), "f32 2x4");
  EXPECT_EQ(InferText("MatMul", {}, {Shape{2, 3}, Shape{3, 4}, Shape{3}}),
            "error: [node] input 2 has the wrong shape; got 3, expected 4");
  EXPECT_NE(
      InferText("Gemm", fused, {Shape{2, 3}, Shape{3, 4}, {}, Shape{4}}).find("does not fit the output"),
      std::string::npos);
  EXPECT_NE(InferText("MatMul", fused, {Shape{2, 3}, Shape{3, 4}}).find("residual is missing"),
            std::string::npos);
  EXPECT_NE(InferText("MatMul", Attrs({{"activation", std::string("Relu")}}),
                      {{DType::kI32, {2, 3}}, {DType::kI32, {3, 4}}})
                .find("does not take; got i32"),
            std::string::npos);
}

std::string EinsumText(const char* equation, const std::vector<TestInput>& inputs) {
  return InferText("Einsum", Attrs({{"equation", std::string(equation)}}), inputs);
}

TEST(EinsumInfer, ReadsExplicitAndImplicitOutputs) {
  EXPECT_EQ(EinsumText("ij, jk -> ik", {Shape{2, 3}, Shape{3, 4}}), "f32 2x4");
  EXPECT_EQ(EinsumText("ba", {Shape{2, 3}}), "f32 3x2");
  EXPECT_EQ(EinsumText("ij->", {Shape{2, 3}}), "f32 scalar");
  EXPECT_EQ(EinsumText("...ij,...jk", {Shape{5, 1, 2, 3}, Shape{6, 3, 4}}), "f32 5x6x2x4");
  EXPECT_EQ(EinsumText("...ii->...i", {Shape{5, 3, 3}}), "f32 5x3");
  EXPECT_EQ(EinsumText("i->i...", {Shape{3}}), "f32 3");
}

TEST(EinsumInfer, ExplainsBadEquations) {
  EXPECT_EQ(EinsumText("ij,jk->ik", {Shape{2, 3}}),
            "error: [node] equation 'ij,jk->ik' has 2 terms for 1 operands");
  EXPECT_EQ(EinsumText("ij->i", {Shape{3}}),
            "error: [node] equation 'ij->i' has a term 'ij' for an operand of 1 dimensions");
  EXPECT_EQ(EinsumText("i?->i", {Shape{3, 2}}),
            "error: [node] equation 'i?->i' holds '?'; expected letters, commas, '...' and '->'");
  EXPECT_EQ(EinsumText("i->ii", {Shape{3}}), "error: [node] equation 'i->ii' repeats an index in its output");
  EXPECT_EQ(EinsumText("i->j", {Shape{3}}),
            "error: [node] equation 'i->j' has an output index 'j' that no operand has");
  EXPECT_EQ(EinsumText("i,i->i", {Shape{3}, Shape{2}}),
            "error: [node] equation 'i,i->i' gives one index two extents; got 3 and 2");
  EXPECT_NE(EinsumText("......->", {Shape{3, 1, 1}}).find("two ellipses"), std::string::npos);
  EXPECT_NE(EinsumText("i.j->", {Shape{3, 1, 1}}).find("holds '.'"), std::string::npos);
  EXPECT_NE(EinsumText("a,b,c,d,e->", std::vector<TestInput>(5, Shape{100000})).find("too many products"),
            std::string::npos);
}

}  // namespace
}  // namespace mete
