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
  EXPECT_FALSE(Of(ConvGraph(14, 64, 64, 1))[0].amounts.contains("byte written, far"));
  const auto far = Of(ConvGraph(112, 64, 64, 1))[0].amounts;
  EXPECT_EQ(far.at("byte written, far"), far.at("byte written"));
  EXPECT_EQ(far.at("byte read, far"), far.at("byte read"));
}

// Appends a node of one input and one output, as large as that.
ValueId Then(Graph& graph, const std::string& op, ValueId x, int64_t size) {
  const ValueId y = graph.AddValue(op + std::to_string(graph.nodes.size()), DType::kF32, {size});
  graph.AddNode(op, "node" + std::to_string(graph.nodes.size()), {x}, {y});
  return y;
}

// How far a convolution of 14 x 14 x 64 finds its input, if so many bytes pass between that and who made it.
double FarRead(int64_t bytes_between, bool through_view) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {1, 14, 14, 64}), aside = graph.AddValue("aside", DType::kF32, {16});
  const ValueId made = graph.AddValue("made", DType::kF32, {1, 14, 14, 64});
  graph.AddNode("Relu", "maker", {x}, {made});
  if (bytes_between > 0) Then(graph, "Sqrt", aside, bytes_between / 4 - 16);
  ValueId read = made;
  if (through_view) {
    read = graph.AddValue("view", DType::kF32, {1, 14, 14, 64});
    graph.AddNode("Reshape", "view", {made}, {read});
  }
  const ValueId y = graph.AddValue("y", DType::kF32, {1, 14, 14, 64});
  Attributes attributes;
  attributes.Set("layout", std::string("NHWC"));
  attributes.Set("kernel_shape", Ints{1, 1});
  graph.AddNode("Conv", "conv", {read, Weights(graph, {64, 64, 1, 1})}, {y}, attributes);
  const auto amounts = WorksOf(graph, graph.nodes.back(), kNear)[0].amounts;
  const auto far = amounts.find("byte read, far");
  return far == amounts.end() ? 0 : far->second / amounts.at("byte read");
}

TEST(WorksOf, AnInputIsAsFarAsWhatPassedSinceItWasMade) {
  for (const bool through_view : {false, true}) {
    EXPECT_EQ(FarRead(0, through_view), 0);
    EXPECT_EQ(FarRead(1 << 18, through_view), 0);
    EXPECT_EQ(FarRead(1 << 20, through_view), 1);
  }
}

TEST(WorksOf, AResidualThatWasMadeLongAgoIsFar) {
  for (const int64_t between : {int64_t{1} << 10, int64_t{1} << 20}) {
    Graph graph;
    const ValueId aside = graph.AddValue("aside", DType::kF32, {16});
    const Shape shape{1, 14, 14, 64};
    const ValueId x = graph.AddValue("x", DType::kF32, shape), kept = graph.AddValue("kept", DType::kF32, shape);
    const ValueId near = graph.AddValue("near", DType::kF32, shape), y = graph.AddValue("y", DType::kF32, shape);
    graph.AddNode("Relu", "keeper", {x}, {kept});
    Then(graph, "Sqrt", aside, between / 4 - 16);
    graph.AddNode("Relu", "maker", {x}, {near});
    Attributes attributes;
    attributes.Set("layout", std::string("NHWC"));
    attributes.Set("kernel_shape", Ints{1, 1});
    attributes.Set("residual", int64_t{1});
    graph.AddNode("Conv", "conv", {near, Weights(graph, {64, 64, 1, 1}), kNoValue, kept}, {y}, attributes);
    const auto amounts = WorksOf(graph, graph.nodes.back(), kNear)[0].amounts;
    EXPECT_EQ(amounts.at("byte of residual"), 4 * 196 * 64);
    EXPECT_EQ(amounts.contains("byte of residual, far"), between > 1 << 19);
    EXPECT_FALSE(amounts.contains("byte read, far"));
  }
}

TEST(WorksOf, OutputsBehindAShortSumAreNotAskedForAhead) {
  EXPECT_TRUE(Of(ConvGraph(14, 48, 64, 1))[0].amounts.contains("byte written behind a short sum"));
  EXPECT_FALSE(Of(ConvGraph(14, 48, 64, 1))[0].amounts.contains("byte written"));
}

TEST(WorksOf, NobodyAsksForTheFirstPanelAndForWhatFewTilesLeaveOut) {
  const auto cold = [](const Work& work) { return work.amounts.at("byte of weights that nobody asked for"); };
  const double one = cold(Of(ConvGraph(14, 64, 256, 1))[0]), row = cold(Of(ConvGraph(1, 64, 256, 1))[0]);
  EXPECT_EQ(one, cold(Of(ConvGraph(14, 64, 512, 1))[0]));  // the first of more panels is no larger
  EXPECT_GE(row, one);
  EXPECT_LE(row, 4 * 64 * 256);
}

TEST(WorksOf, FewRowsWaitForTheirWeights) {
  const std::string wait = "byte of weights that rows wait for";
  EXPECT_EQ(Of(ConvGraph(1, 64, 64, 1))[0].amounts.at(wait), 4 * 64 * 64 * (1 - 1 / 40.0));
  EXPECT_FALSE(Of(ConvGraph(14, 64, 64, 1))[0].amounts.contains(wait));
}

TEST(WorksOf, ChannelsThatFillNoLineLieAcrossTwo) {
  const auto across = [](int64_t channels) {
    double sum = 0;
    const Work work = Of(ConvGraph(14, channels, channels, 3, channels))[0];
    for (const auto& [what, amount] : work.amounts)
      if (what.ends_with("across cache lines")) sum += amount;
    return sum;
  };
  EXPECT_EQ(across(64), 0);
  EXPECT_GT(across(50), 0);
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
  EXPECT_EQ(Of(graph)[0].amounts.at("multiply-add"), 5 * 48 * (8 + 16));
}

}  // namespace
}  // namespace mete
