// Tests of scales and shifts of channels that become a part of the product before them.
#include <gtest/gtest.h>

#include "passes/graphs_testing.h"
#include "passes/pass.h"

namespace mete {
namespace {

TEST(FoldBatchNorm, DisappearsIntoConv) {
  Builder b;
  Graph& g = b.Output(b.BatchNorm(b.Conv(b.Input({1, 3, 6, 5}), 3, 4, 3), 4));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FoldBatchNorm, DisappearsIntoGroupedConvTranspose) {
  Builder b;
  Attributes a;
  a.Set("group", int64_t{2});
  const ValueId y = b.Op("ConvTranspose", {b.Input({1, 4, 3, 3}), b.Weight({4, 3, 2, 2}), b.Weight({6})}, a);
  Graph& g = b.Output(b.BatchNorm(y, 6));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FoldBatchNorm, FoldsScalesAndShiftsOfEveryKind) {
  Builder b;
  ValueId y = b.Conv(b.Input({2, 3, 4, 4}), 3, 5, 1);
  y = b.Op("Mul", {b.Weight({5, 1, 1}), y});
  y = b.Op("Sub", {b.Weight({1, 5, 1, 1}), y});
  y = b.Op("Div", {y, b.Scalar(3)});
  y = b.Op("Add", {y, b.Weight({5, 1, 1})});
  Graph& g = b.Output(y);
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FoldBatchNorm, FoldsTheBiasOfMatMul) {
  Builder b;
  Graph& g = b.Output(b.Op("Add", {b.Op("MatMul", {b.Input({2, 5, 4}), b.Weight({4, 6})}), b.Weight({6})}));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FoldBatchNorm, LeavesTheColumnsOfABatchedMatMulAlone) {
  Builder b;
  // The channels of the BatchNormalization are axis 1, not the columns.
  Graph& g = b.Output(b.BatchNorm(b.Op("MatMul", {b.Input({2, 4, 6}), b.Weight({6, 4})}), 4));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(CountOf(g, "Mul"), 1);
}

TEST(FoldBatchNorm, BecomesMulAndAddWhereTheConvIsReadTwice) {
  Builder b;
  const ValueId conv = b.Conv(b.Input({1, 3, 4, 4}), 3, 4, 1);
  b.Output(conv);
  Graph& g = b.Output(b.BatchNorm(conv, 4));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(CountOf(g, "Mul") + CountOf(g, "Add"), 2);
}

// A depthwise convolution of 1x1 scales and shifts channels, too.
TEST(FoldBatchNorm, TakesADepthwiseConvolutionOfOnePixel) {
  const auto depthwise = [](Builder& b, ValueId x, bool biased, int64_t stride, const Ints& pads) {
    Attributes a;
    a.Set("group", int64_t{4});
    a.Set("strides", Ints{stride, stride});
    a.Set("pads", pads);
    std::vector<ValueId> inputs{x, b.Weight({4, 1, 1, 1})};
    if (biased) inputs.push_back(b.Weight({4}));
    return b.Op("Conv", inputs, a);
  };
  for (const bool biased : {true, false}) {
    Builder behind, alone;
    Graph& folded = behind.Output(
        depthwise(behind, behind.Conv(behind.Input({1, 3, 5, 5}), 3, 4, 1), biased, 1, {0, 0, 0, 0}));
    ExpectSame(folded, FoldBatchNorm);
    EXPECT_EQ(folded.nodes.size(), 1u);
    Graph& split = alone.Output(
        depthwise(alone, alone.Op("Relu", {alone.Input({1, 4, 5, 5})}), biased, 1, {0, 0, 0, 0}));
    ExpectSame(split, FoldBatchNorm);
    EXPECT_EQ(CountOf(split, "Conv"), 0);
    EXPECT_EQ(CountOf(split, "Mul"), 1);
    EXPECT_EQ(CountOf(split, "Add"), biased ? 1 : 0);
  }
  for (const auto& [stride, pads] : {std::pair<int64_t, Ints>{2, {0, 0, 0, 0}}, {3, {1, 1, 1, 1}}}) {
    Builder b;
    Graph& g = b.Output(depthwise(b, b.Input({1, 4, 1, 1}), true, stride, pads));
    FoldConstants(g);
    EXPECT_FALSE(FoldBatchNorm(g));
  }
}

TEST(FoldBatchNorm, FoldsWhatScalesChannelsBehindATranspose) {
  Builder b;
  Attributes perm;
  perm.Set("perm", Ints{0, 3, 1, 2});
  const ValueId x = b.Op("MatMul", {b.Input({2, 5, 6, 4}), b.Weight({4, 3})});
  const ValueId y = b.Op("Mul", {b.Weight({3, 1, 1}), b.Op("Transpose", {x}, perm)});
  const ValueId z = b.Op("MatMul", {b.Input({2, 5, 6, 4}), b.Weight({4, 3})});
  b.Output(b.Op("BatchNormalization", {b.Op("Transpose", {z}, perm), b.Weight({3}), b.Weight({3}),
                                       b.Weight({3}), b.Weight({3}, 0.5, 2)}));
  b.Output(b.Op("Mul", {b.Weight({6}), b.Op("Transpose", {z}, perm)}));  // has another reader: stays
  Graph& g = b.Output(b.Op("Add", {y, b.Weight({3, 1, 1})}));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(CountOf(g, "Mul"), 2) << ToText(g);  // one of the BatchNormalization that could not be folded
  EXPECT_EQ(CountOf(g, "Add"), 1) << ToText(g);
}

TEST(FoldBatchNorm, LeavesAScaleAlongAnotherAxis) {
  Builder b;
  // The constant scales along the width, not the channels.
  Graph& g = b.Output(b.Op("Mul", {b.Conv(b.Input({1, 3, 4, 4}), 3, 4, 1), b.Weight({4})}));
  FoldConstants(g);
  EXPECT_FALSE(FoldBatchNorm(g));
}

}  // namespace
}  // namespace mete
