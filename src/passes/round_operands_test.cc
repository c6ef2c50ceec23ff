#include <algorithm>
#include <limits>
#include <tuple>

#include "base/fused.h"
#include "graph/fused.h"
#include "graph/ops/control_flow_testing.h"
#include "passes/graphs_testing.h"
#include "passes/quantized_testing.h"
#include "passes/pass.h"

namespace mete {
namespace {

TEST(RoundOperands, MarksProductsOtherThanDepthwiseOnes) {
  Builder b;
  const ValueId x = b.Input({1, 8, 6, 6}), conv = b.Conv(x, 8, 8, 3, {1, 1, 1, 1});
  Attributes depthwise;
  depthwise.Set("group", int64_t{8});
  const ValueId by_channel = b.Op("Conv", {conv, b.Weight({8, 1, 3, 3})}, depthwise);
  const ValueId product = b.Op("MatMul", {by_channel, b.Weight({4, 5})});
  Graph& g = b.Output(b.Op("MatMul", {product, b.Input({1, 8, 5, 4})}));
  (void)RunPasses(g, {.precision = Precision::kBf16});
  int marked = 0, products = 0;
  for (const Node& node : g.nodes) {
    if (node.op != "Conv" && !node.op.ends_with("MatMul")) continue;
    ++products;
    marked += node.attributes.String(kOperands, "") == "bf16";
  }
  EXPECT_EQ(products, 4);
  EXPECT_EQ(marked, 3) << "all but the depthwise convolution";
}

TEST(RoundOperands, MarksTransposedConvolutionsOtherThanDepthwiseOnes) {
  for (const auto& [groups, marks] : {std::pair{1, true}, {2, true}, {16, false}}) {
    Builder b;
    Attributes a;
    a.Set("group", int64_t{groups});
    a.Set("strides", Ints{2, 2});
    const ValueId weights = b.Weight({16, 32 / groups, 3, 3});
    Graph& g = b.Output(b.Op("ConvTranspose", {b.Input({1, 16, 6, 6}), weights}, a));
    (void)RunPasses(g, {.precision = Precision::kBf16});
    const auto node =
        std::find_if(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return n.op == "ConvTranspose"; });
    ASSERT_NE(node, g.nodes.end());
    EXPECT_EQ(OperandsOf(*node), marks ? Precision::kBf16 : Precision::kF32) << groups << " groups";
  }
}

TEST(RoundOperands, MarksNothingWhereTheUserWantsF32) {
  Builder b;
  Graph& g = b.Output(b.Conv(b.Input({1, 8, 6, 6}), 8, 8, 3));
  (void)RunPasses(g, {});
  for (const Node& node : g.nodes) EXPECT_FALSE(node.attributes.Has(kOperands));
}

TEST(RoundOperands, GivesBodiesThePrecisionOfAllNodesAlone) {
  const auto precision = [](const PassOptions& options) {
    Graph g;
    const ValueId flag = g.AddValue("flag", DType::kBool, {}), x = g.AddValue("x", DType::kF32, {3}),
                  y = g.AddValue("y");
    g.inputs = {flag, x};
    g.outputs = {y};
    g.AddNode("If", "if", {flag, x}, {y}, ReluOrNeg());
    (void)RunPasses(g, options);
    return g.nodes.at(0).attributes.String(kBodyPrecision, "none");
  };
  EXPECT_EQ(precision({.precision = Precision::kW8}), "w8");
  EXPECT_EQ(precision({}), "none");
  EXPECT_EQ(precision({.precision = Precision::kW8, .node_precisions = {{"other", Precision::kW8}}}), "none");
}

// A convolution of bytes keeps its exact sums, unless it is named.
TEST(RoundOperands, BytesAreNamed) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({1, 8, 6, 6}));
  Graph& made = b.Output(b.Rounded(b.Conv(x, 8, 9, 3)));
  for (Node& node : made.nodes)
    if (node.op == "Conv") node.name = "bytes";
  const auto operands = [&](const PassOptions& options) {
    Graph g = made;
    (void)RunPasses(g, options);
    for (const Node& node : g.nodes)
      if (node.op == "QLinearConv") return OperandsOf(node);
    ADD_FAILURE() << "no convolution of bytes";
    return Precision::kW4;
  };
  for (const Precision all : {Precision::kF32, Precision::kBf16, Precision::kW8})
    EXPECT_EQ(operands({.precision = all}), Precision::kI32);
  EXPECT_EQ(operands({.node_precisions = {{"bytes", Precision::kF32}}}), Precision::kF32);
  EXPECT_EQ(operands({.node_precisions = {{"bytes", Precision::kBf16}}}), Precision::kI32);
  EXPECT_EQ(operands({.node_precisions = {{"other", Precision::kF32}}}), Precision::kI32);
}

// f16 has numbers of up to 65504: a product with a larger weight stays in f32, as do those whose weights are
// computed.
TEST(RoundOperands, F16IsForWeightsThatAreNumbersOfF16) {
  for (const auto& [largest, alpha, fits] : {std::tuple{65504.0f, 1.0f, true},
                                             {-65505.0f, 1.0f, false},
                                             {1e5f, 0.5f, true},
                                             {40000.0f, 2.0f, false},
                                             {std::numeric_limits<float>::quiet_NaN(), 1.0f, false}}) {
    Builder b;
    Attributes scaled;
    scaled.Set("alpha", alpha);
    const ValueId weights = b.Weight({4, 4});
    b.graph.value(weights).constant.mutable_view().as<float>()[7] = largest;
    const ValueId product = b.Op("Gemm", {b.Input({2, 4}), weights}, scaled);
    Graph& g = b.Output(b.Op("MatMul", {product, b.Input({4, 2})}));
    (void)RunPasses(g, {.precision = Precision::kF16});
    int marked = 0;
    for (const Node& node : g.nodes) {
      marked += node.op == "Gemm" && OperandsOf(node) == Precision::kF16;
      if (node.op != "Gemm") {
        EXPECT_EQ(OperandsOf(node), Precision::kF32) << node.op;
      }
    }
    EXPECT_EQ(marked, fits) << largest << " times " << alpha;
  }
}

TEST(RoundOperands, FewBitsAreForConstantWeightsOfMatrixProducts) {
  Builder b;
  const ValueId conv = b.Conv(b.Input({1, 8, 6, 6}), 8, 8, 3);
  const ValueId product = b.Op("MatMul", {conv, b.Weight({4, 4})});
  Graph& g = b.Output(b.Op("MatMul", {product, b.Input({1, 8, 4, 4})}));
  (void)RunPasses(g, {.precision = Precision::kW4});
  int marked = 0;
  for (const Node& node : g.nodes)
    if (node.attributes.String(kOperands, "") == "w4") {
      EXPECT_EQ(node.op, "MatMul");
      EXPECT_TRUE(g.value(node.inputs[1]).is_constant());
      ++marked;
    }
  EXPECT_EQ(marked, 1);
}

// The weights of the inputs and those of the states are rounded together, where both are constants.
TEST(RoundOperands, RecurrentNodesNeedConstantWeights) {
  for (const Precision precision : {Precision::kBf16, Precision::kF16, Precision::kW8, Precision::kW4}) {
    Builder b;
    const ValueId x = b.Input({7, 1, 5});
    const ValueId constant = b.Op("RNN", {x, b.Weight({1, 3, 5}), b.Weight({1, 3, 3})});
    const ValueId computed = b.Op("RNN", {x, b.Weight({1, 3, 5}), b.Input({1, 3, 3})});
    Graph& g = b.Output(b.Op("Add", {constant, computed}));
    (void)RunPasses(g, {.precision = precision});
    std::vector<std::string> operands;
    for (const Node& node : g.nodes)
      if (node.op == "RNN") operands.push_back(Name(OperandsOf(node)));
    std::ranges::sort(operands);
    std::vector<std::string> want{Name(precision), "f32"};
    std::ranges::sort(want);
    EXPECT_EQ(operands, want);
  }
}

TEST(RoundOperands, VerifyRefusesOtherTypes) {
  Builder b;
  const ValueId x = b.Input({2, 3}), y = b.Op("MatMul", {x, b.Weight({3, 4})});
  b.graph.nodes.back().attributes.Set(kOperands, std::string("u3"));
  b.Output(y);
  EXPECT_THROW(FoldConstants(b.graph), Error);
}

}  // namespace
}  // namespace mete
