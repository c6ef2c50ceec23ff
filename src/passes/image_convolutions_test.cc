// Tests of the passes that write other convolutions as those of images: transposed ones, and ones along a
// line.
#include <gtest/gtest.h>

#include "passes/transposed_testing.h"

namespace mete {
namespace {

ValueId Transposed(Builder& b, const TransposedCase& c, int64_t bias = 0) {
  std::vector<ValueId> inputs = {b.Input(c.in), b.Weight(c.weights)};
  if (bias > 0) inputs.push_back(b.Weight({bias}));
  return b.Op("ConvTranspose", inputs, AttributesOf(c));
}

TEST(WriteTransposedConvolutions, GivesTheSameForEveryKernelStrideAndPadding) {
  const TransposedCase cases[] = {{{1, 3, 4, 5}, {3, 2, 2, 2}, 2, {0, 0, 0, 0}, {}},
                                  {{2, 3, 4, 5}, {3, 5, 3, 3}, 3, {0, 0, 0, 0}, {}},
                                  {{1, 3, 4, 5}, {3, 2, 4, 4}, 2, {1, 1, 1, 1}, {}},
                                  {{1, 3, 4, 5}, {3, 2, 3, 3}, 2, {1, 1, 1, 1}, {1, 1}},
                                  {{1, 2, 1, 1}, {2, 2, 3, 5}, 2, {0, 2, 1, 1}, {}},
                                  {{1, 2, 3, 4}, {2, 1, 1, 3}, 2, {0, 0, 0, 0}, {}},
                                  {{1, 2, 6, 4}, {2, 3, 3, 3}, 1, {1, 0, 2, 1}, {}}};
  for (const TransposedCase& c : cases)
    for (const int64_t bias : {int64_t{0}, c.weights[1]}) {
      Builder b;
      Graph& g = b.Output(Transposed(b, c, bias));
      ExpectSame(g, WriteTransposedConvolutions);
      EXPECT_EQ(CountOf(g, "ConvTranspose"), 0) << ToText(g);
    }
}

TEST(WriteTransposedConvolutions, NeedsNoSliceWithoutPadding) {
  Builder b;
  Graph& g = b.Output(Transposed(b, {{1, 3, 4, 5}, {3, 2, 2, 2}, 2, {0, 0, 0, 0}, {}}));
  ExpectSame(g, WriteTransposedConvolutions);
  EXPECT_EQ(g.nodes.size(), 2u) << ToText(g);
}

TEST(WriteTransposedConvolutions, LeavesWhatItCannotWrite) {
  // Output padding beyond the last tap, groups, weights that are computed, and two strides.
  Builder b;
  b.Output(Transposed(b, {{1, 2, 3, 3}, {2, 1, 1, 1}, 3, {0, 0, 0, 0}, {2, 2}}));
  Attributes groups, strides;
  groups.Set("group", int64_t{2});
  strides.Set("strides", Ints{1, 2});
  b.Output(b.Op("ConvTranspose", {b.Input({1, 4, 3, 3}), b.Weight({4, 2, 2, 2})}, groups));
  b.Output(b.Op("ConvTranspose", {b.Input({1, 4, 3, 3}), b.Input({4, 2, 2, 2})}));
  Graph& g = b.Output(b.Op("ConvTranspose", {b.Input({1, 4, 3, 3}), b.Weight({4, 2, 2, 2})}, strides));
  ExpectSame(g, WriteTransposedConvolutions);
  EXPECT_EQ(CountOf(g, "ConvTranspose"), 3) << ToText(g);  // the first one has enough zeros behind its taps
}

TEST(WriteTransposedConvolutions, NeedsOnlyAConvAtStrideOne) {
  for (const Ints& pads : {Ints{0, 0, 0, 0}, Ints{1, 0, 2, 1}, Ints{2, 2, 2, 2}}) {
    Builder b;
    Graph& g = b.Output(Transposed(b, {{2, 3, 6, 4}, {3, 20, 3, 3}, 1, pads, {}}, 20));
    ExpectSame(g, WriteTransposedConvolutions);
    EXPECT_EQ(g.nodes.size(), 1u) << ToText(g);
  }
}

TEST(WriteTransposedConvolutions, CountsNoPadsBesideValid) {
  Builder b;
  Attributes valid;
  valid.Set("pads", Ints{1, 1, 1, 1});
  valid.Set("auto_pad", std::string("VALID"));
  const ValueId x = b.Op("ConvTranspose", {b.Input({1, 3, 6, 4}), b.Weight({3, 20, 3, 3})}, valid);
  Graph& g = b.Output(x);
  ExpectSame(g, WriteTransposedConvolutions);
  EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{1, 20, 8, 6}));
}

TEST(WriteTransposedConvolutions, LeavesManyChannelsToTheKernelsOfPhases) {
  const TransposedCase many{{1, 3, 4, 5}, {3, 16, 4, 4}, 2, {1, 1, 1, 1}, {}};
  Builder b;
  Graph& g = b.Output(Transposed(b, many, 16));
  FoldConstants(g);
  Settle(g);
  EXPECT_FALSE(WriteTransposedConvolutions(g)) << ToText(g);
  ExpectSame(g, [](Graph& graph) {
    WriteEveryTransposedConvolution(graph);
    return true;
  });
  EXPECT_EQ(CountOf(g, "ConvTranspose"), 0) << ToText(g);
}

// Each pixel would become a block of stride x stride pixels, nearly all of them zeros.
TEST(WriteTransposedConvolutions, LeavesStridesFarBeyondTheKernel) {
  for (const int64_t stride : {13, 1 << 20, 1 << 30}) {
    Builder b;
    Graph& g = b.Output(Transposed(b, {{1, 2, 1, 1}, {2, 3, 3, 3}, stride, {0, 0, 0, 0}, {}}));
    FoldConstants(g);
    Settle(g);
    EXPECT_FALSE(WriteTransposedConvolutions(g)) << stride;
  }
}

ValueId Line(Builder& b, ValueId x, const Shape& weights, Attributes a = {}) {
  return b.Op("Conv", {x, b.Weight(weights), b.Weight({weights[0]})}, std::move(a));
}

TEST(WidenLineConvolutions, LeavesOneViewAtEachEndOfAChain) {
  Builder b;
  Attributes window, depthwise, axis, pool;
  window.Set("pads", Ints{2, 1});
  window.Set("strides", Ints{2});
  window.Set("dilations", Ints{2});
  depthwise.Set("group", int64_t{4});
  axis.Set("axis", int64_t{1});
  pool.Set("kernel_shape", Ints{3});
  pool.Set("pads", Ints{1, 0});
  const ValueId x = Line(b, b.Input({2, 3, 20}), {4, 3, 3}, window);
  const ValueId y = Line(b, b.Op("Mul", {x, b.Op("Sigmoid", {x})}), {4, 1, 2}, depthwise);
  const ValueId z = b.Op("Concat", {y, b.Op("Mul", {y, b.Scalar(0.5f)})}, axis);
  Graph& g = b.Output(b.Op("MaxPool", {z}, pool));
  ExpectSame(g, WidenLineConvolutions);
  RemoveUnused(g);
  EXPECT_EQ(CountOf(g, "Unsqueeze"), 1) << ToText(g);
  EXPECT_EQ(CountOf(g, "Squeeze"), 1) << ToText(g);
}

TEST(WidenLineConvolutions, WidensTransposedConvolutions) {
  Attributes sizes, shape, same;
  for (Attributes* a : {&sizes, &shape, &same}) a->Set("strides", Ints{3});
  sizes.Set("pads", Ints{1, 2});
  sizes.Set("output_padding", Ints{2});
  sizes.Set("dilations", Ints{2});
  shape.Set("output_shape", Ints{17});
  same.Set("auto_pad", std::string("SAME_LOWER"));
  for (const Attributes& a : {sizes, shape, same}) {
    Builder b;
    const ValueId x = b.Op("ConvTranspose", {b.Input({2, 4, 6}), b.Weight({4, 3, 4}), b.Weight({3})}, a);
    Graph& g = b.Output(b.Op("Relu", {x}));
    ExpectSame(g, WidenLineConvolutions);
    EXPECT_EQ(CountOf(g, "Unsqueeze"), 1) << ToText(g);
  }
}

TEST(WidenLineConvolutions, NeedsNoTransposeBetweenRowsOfChannels) {
  Builder b;
  Attributes swap, pads;
  swap.Set("perm", Ints{0, 2, 1});
  pads.Set("pads", Ints{1, 1});
  const ValueId x = b.Op("Transpose", {b.Op("MatMul", {b.Input({1, 9, 5}), b.Weight({5, 4})})}, swap);
  const ValueId y = b.Op("Transpose", {b.Op("Relu", {Line(b, x, {6, 4, 3}, pads)})}, swap);
  Graph& g = b.Output(b.Op("Add", {y, b.Weight({6})}));
  ExpectSame(g, WidenLineConvolutions);
  ExpectSame(g, ToNhwc);
  ExpectSame(g, CancelTransposes);
  RemoveUnused(g);
  EXPECT_EQ(CountOf(g, "Transpose"), 0) << ToText(g);
}

TEST(WidenLineConvolutions, LeavesOtherGraphsAlone) {
  Builder b;
  Attributes axis;
  axis.Set("axis", int64_t{1});
  const ValueId x = b.Input({1, 4, 5});
  b.Output(b.Op("Conv", {x, b.Input({2, 4, 3})}));  // weights that are computed
  Graph& g = b.Output(b.Op("Concat", {b.Op("Relu", {x}), x}, axis));
  EXPECT_FALSE(WidenLineConvolutions(g));
}

// Values of other shapes are broadcast as before, and readers of another kind get a line.
TEST(WidenLineConvolutions, KeepsWhatOtherNodesRead) {
  Builder b;
  Attributes axis;
  axis.Set("axis", int64_t{-1});
  const ValueId x = Line(b, b.Input({2, 3, 7}), {4, 3, 1});
  b.Output(b.Op("Softmax", {x}, axis));
  b.Output(b.Op("Add", {x, b.Weight({4, 1})}));
  b.Output(b.Op("Add", {x, b.Weight({1, 4, 1})}));
  Attributes swap;
  swap.Set("perm", Ints{2, 0, 1});
  Graph& g = b.Output(b.Op("Transpose", {x}, swap));
  ExpectSame(g, WidenLineConvolutions);
}

ValueId Slice(Builder& b, ValueId x, const Ints& starts, const Ints& axes, int64_t step) {
  const Ints ends(axes.size(), INT64_MAX), steps(axes.size(), step);
  return b.Op("Slice", {x, b.Ints(starts), b.Ints(ends), b.Ints(axes), b.Ints(steps)});
}

Attributes Axis(int64_t axis) {
  Attributes a;
  a.Set("axis", axis);
  return a;
}

TEST(FoldBlocks, FoldsFocusIntoTheConvolution) {
  Builder b;
  const ValueId x = b.Input({2, 3, 8, 10});
  std::vector<ValueId> parts;
  for (const int64_t column : {0, 1})
    for (const int64_t row : {0, 1}) {
      const bool once = row == column;  // one Slice of both axes, or one for each
      parts.push_back(once ? Slice(b, x, {row, column}, {-2, -1}, 2)
                           : Slice(b, Slice(b, x, {row}, {2}, 2), {column}, {3}, 2));
    }
  Graph& g = b.Output(b.Conv(b.Op("Concat", parts, Axis(1)), 12, 5, 3, {1, 0, 2, 1}));
  ExpectSame(g, FoldBlocks);
  RemoveUnused(g);
  EXPECT_EQ(g.nodes.size(), 1u) << ToText(g);
}

TEST(FoldBlocks, FoldsSpaceToDepthOfThreeByThree) {
  Builder b;
  Attributes block;
  block.Set("blocksize", int64_t{3});
  Graph& g = b.Output(b.Conv(b.Op("SpaceToDepth", {b.Input({1, 2, 6, 9})}, block), 18, 4, 2));
  ExpectSame(g, FoldBlocks);
  EXPECT_EQ(g.nodes.size(), 1u) << ToText(g);
}

TEST(FoldBlocks, LeavesOtherSlicesAlone) {
  const auto fold = [](const std::vector<Ints>& starts, const Shape& image, int64_t step) {
    Builder b;
    const ValueId x = b.Input(image);
    std::vector<ValueId> parts;
    for (const Ints& start : starts) parts.push_back(Slice(b, x, start, {2, 3}, step));
    Graph& g = b.Output(b.Conv(b.Op("Concat", parts, Axis(1)), int64_t(starts.size()) * image[1], 5, 1));
    FoldConstants(g);
    return FoldBlocks(g);
  };
  EXPECT_TRUE(fold({{1, 1}, {0, 0}, {0, 1}, {1, 0}}, {1, 1, 4, 4}, 2));
  EXPECT_FALSE(fold({{0, 0}, {0, 0}, {0, 1}, {1, 0}}, {1, 1, 4, 4}, 2));  // a place twice
  EXPECT_FALSE(fold({{0, 0}, {0, 1}, {1, 0}}, {1, 1, 4, 4}, 2));          // a place is missing
  EXPECT_FALSE(fold({{2, 0}, {2, 1}, {3, 0}, {3, 1}}, {1, 1, 4, 4}, 2));  // not from the first block on
  EXPECT_FALSE(fold({{1, 1}, {0, 0}, {0, 1}, {1, 0}}, {1, 5, 4, 4}, 2));  // many channels
  for (const int64_t step : {int64_t{5}, int64_t{1} << 32, INT64_MAX})    // blocks larger than the image
    EXPECT_FALSE(fold({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, {1, 1, 4, 4}, step)) << step;
}

}  // namespace
}  // namespace mete
