#include "costs/work.h"

#include <gtest/gtest.h>

#include "base/fused.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {
namespace {

constexpr double kNear = 1 << 20;

ValueId Weights(Graph& graph, const Shape& shape) {
  const ValueId id = graph.AddValue("w", DType::kF32, shape);
  graph.value(id).constant = Tensor(DType::kF32, shape);
  return id;
}

// A convolution over NHWC of stride 1 that keeps the size.
Graph ConvGraph(int64_t side, int64_t in, int64_t out, int64_t kernel, int64_t groups = 1, const std::string& activation = "") {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {1, side, side, in}), y = graph.AddValue("y", DType::kF32, {1, side, side, out});
  Attributes attributes;
  attributes.Set("layout", std::string("NHWC"));
  attributes.Set("group", groups);
  attributes.Set("kernel_shape", Ints{kernel, kernel});
  attributes.Set("pads", Ints{kernel / 2, kernel / 2, kernel / 2, kernel / 2});
  if (!activation.empty()) attributes.Set("activation", activation);
  graph.AddNode("Conv", "conv", {x, Weights(graph, {out, in / groups, kernel, kernel})}, {y}, attributes);
  return graph;
}

std::vector<Work> Of(const Graph& graph) { return WorksOf(graph, graph.nodes[0], kNear); }

double Tiles(const Work& work) {
  double sum = 0;
  for (const auto& [what, amount] : work.amounts)
    if (what.starts_with("row x column panel")) sum += amount;
  return sum;
}

TEST(WorksOf, APointwiseConvolutionIsOneProduct) {
  const auto works = Of(ConvGraph(14, 64, 16, 1));
  ASSERT_EQ(works.size(), 1u);
  EXPECT_EQ(works[0].key(), "conv_1x1_f32");
  EXPECT_EQ(Tiles(works[0]), 196 * 64 * double(PlanGemm(16, 64).panels));
  EXPECT_EQ(works[0].amounts.at("byte of weights"), 4 * 64 * 16);
  EXPECT_EQ(works[0].amounts.at("byte written"), 4 * 196 * 16);
  EXPECT_EQ(works[0].amounts.at("node"), 1);
  EXPECT_FALSE(works[0].amounts.contains("byte of residual"));
}

TEST(WorksOf, AThreeByThreeConvolutionHasThreeWays) {
  const auto works = Of(ConvGraph(14, 64, 64, 3));
  ASSERT_EQ(works.size(), 3u);
  EXPECT_EQ(works[0].key(), "conv_f32");
  EXPECT_EQ(works[1].key(), "winograd_f2_f32");
  EXPECT_EQ(works[2].key(), "winograd_f4_f32");
  EXPECT_EQ(works[2].amounts.at("value transformed"), 16 * 36 * 64);  // 4 x 4 tiles of 6 x 6 values
  EXPECT_NEAR(Tiles(works[0]) / Tiles(works[1]), 2.25, 1e-9);         // 7 x 7 tiles of 2 x 2 cover 14 x 14 exactly
}

TEST(WorksOf, WhatIsTooLargeForTheNearCacheIsFarInPart) {
  EXPECT_FALSE(Of(ConvGraph(14, 64, 64, 1))[0].amounts.contains("byte read, far"));
  const auto far = Of(ConvGraph(112, 64, 64, 1))[0].amounts;
  EXPECT_EQ(far.at("byte read, far"), far.at("byte read"));
}

TEST(WorksOf, DepthwiseAndOneRowAreOfTheirOwn) {
  EXPECT_EQ(Of(ConvGraph(14, 64, 64, 3, 64))[0].key(), "depthwise_f32");
  EXPECT_EQ(Of(ConvGraph(1, 64, 16, 1))[0].key(), "conv_1x1_f32, one row");
}

TEST(WorksOf, AnActivationCostsByItsKindAndAReluNothing) {
  EXPECT_EQ(Of(ConvGraph(7, 16, 16, 1, 1, "Swish"))[0].amounts.at("byte through Swish"), 4 * 49 * 16);
  EXPECT_EQ(Of(ConvGraph(7, 16, 16, 1, 1, "Relu"))[0].amounts, Of(ConvGraph(7, 16, 16, 1))[0].amounts);
}

TEST(WorksOf, MatricesOfOneRowAndOfMany) {
  for (const int64_t rows : {1, 5}) {
    Graph graph;
    const ValueId x = graph.AddValue("x", DType::kF32, {rows, 30}), y = graph.AddValue("y", DType::kF32, {rows, 20});
    graph.AddNode("MatMul", "product", {x, Weights(graph, {30, 20})}, {y});
    const auto works = Of(graph);
    ASSERT_EQ(works.size(), 1u);
    EXPECT_EQ(works[0].key(), rows == 1 ? "matvec_columns_f32" : "gemm_f32");
  }
}

TEST(WorksOf, ViewsAndUnknownShapesAreNoWork) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {2, 3}), y = graph.AddValue("y", DType::kF32, {6});
  const ValueId z = graph.AddValue("z", DType::kF32);
  graph.AddNode("Reshape", "view", {x}, {y});
  graph.AddNode("NonZero", "unknown", {x}, {z});
  for (const Node& node : graph.nodes) EXPECT_TRUE(WorksOf(graph, node, kNear).empty());
}

// Without elements on one side, and still with something to read on the other.
TEST(WorksOf, EmptyTensorsAreNoWork) {
  Graph product;
  const ValueId x = product.AddValue("x", DType::kF32, {4, 8}), y = product.AddValue("y", DType::kF32, {4, 0});
  product.AddNode("MatMul", "product", {x, Weights(product, {8, 0})}, {y});
  EXPECT_TRUE(Of(product).empty());
  Graph conv = ConvGraph(14, 64, 64, 3);
  for (const char* name : {"x", "y"})
    for (Value& v : conv.values)
      if (v.name == name) v.shape = {0, 14, 14, 64};
  EXPECT_TRUE(Of(conv).empty());
}

TEST(WorksOf, AFirstOutputThatNobodyWantsIsPassedOver) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {5, 1, 8}), last = graph.AddValue("last", DType::kF32, {1, 1, 16});
  graph.AddNode("GRU", "gru", {x, Weights(graph, {1, 48, 8}), Weights(graph, {1, 48, 16})}, {kNoValue, last});
  ASSERT_EQ(Of(graph).size(), 1u);
  EXPECT_EQ(Of(graph)[0].amounts.at("output"), 16);
}

}  // namespace
}  // namespace mete
