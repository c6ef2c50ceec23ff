// Tests of the pass that writes convolutions and pools of volumes as those of slices; its resizes have tests
// of their own.
#include <gtest/gtest.h>

#include <functional>

#include "passes/graphs_testing.h"
#include "passes/rewrite.h"
#include "passes/shaped_graphs.h"

namespace mete {
namespace {

// Of a window: kernel_shape, strides, pads and dilations, which are omitted where they are empty.
Attributes WindowOf(const Ints& kernel, const Ints& strides, const Ints& pads, const Ints& dilations = {}) {
  Attributes a;
  if (!kernel.empty()) a.Set("kernel_shape", kernel);
  if (!strides.empty()) a.Set("strides", strides);
  if (!pads.empty()) a.Set("pads", pads);
  if (!dilations.empty()) a.Set("dilations", dilations);
  return a;
}

bool HasVolume(const Graph& graph, const std::string& op) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.op == op && graph.value(node.inputs[0]).shape.rank() == 5;
  });
}

struct Case {
  Shape in, weights;
  Ints strides, pads, dilations;
  int64_t group = 1;
};

TEST(SliceVolumeConvolutions, GivesTheSameForEveryWindow) {
  const Case cases[] = {
      {{1, 3, 4, 5, 6}, {2, 3, 1, 3, 3}, {}, {0, 1, 1, 0, 1, 1}, {}},         // images alone
      {{1, 3, 4, 5, 6}, {2, 3, 3, 3, 3}, {}, {1, 1, 1, 1, 1, 1}, {}},         // the same size
      {{2, 3, 4, 5, 6}, {2, 3, 3, 3, 3}, {}, {1, 1, 1, 1, 1, 1}, {}},         // of two volumes
      {{2, 2, 5, 4, 3}, {3, 2, 2, 2, 1}, {}, {}, {}},                         // no padding
      {{1, 2, 5, 4, 3}, {3, 2, 3, 1, 1}, {2, 1, 1}, {0, 0, 0, 1, 0, 0}, {}},  // strides, uneven padding
      {{2, 2, 6, 4, 3}, {3, 2, 3, 1, 2}, {2, 2, 1}, {1, 0, 1, 0, 1, 0}, {}},  // of two volumes
      {{3, 2, 4, 2, 3}, {3, 2, 1, 1, 1}, {2, 1, 1}, {}, {}},                  // every other slice
      {{1, 2, 6, 5, 5}, {3, 2, 2, 2, 2}, {}, {0, 0, 1, 2, 1, 1}, {2, 1, 2}},  // dilations
      {{2, 2, 7, 5, 5}, {3, 2, 3, 2, 2}, {2, 1, 1}, {2, 0, 1, 1, 1, 1}, {2, 2, 1}},  // and strides
      {{1, 2, 1, 4, 4}, {3, 2, 3, 3, 3}, {}, {1, 1, 1, 1, 1, 1}, {}},                // one slice
      {{2, 2, 3, 4, 4}, {3, 2, 3, 3, 3}, {}, {0, 1, 1, 0, 1, 1}, {}},                // one slice of three
      {{1, 1, 6, 6, 6}, {4, 1, 2, 3, 3}, {2, 3, 3}, {}, {}},                         // patches of one channel
      {{2, 4, 4, 5, 3}, {6, 2, 3, 3, 3}, {}, {1, 1, 1, 1, 1, 1}, {}, 2},             // groups
      {{1, 4, 4, 5, 3}, {4, 1, 3, 3, 3}, {1, 2, 2}, {1, 1, 1, 1, 1, 1}, {}, 4},      // depthwise
      {{2, 4, 5, 3, 3}, {8, 1, 2, 1, 1}, {2, 1, 1}, {1, 0, 0, 0, 0, 0}, {2, 1, 1}, 4},
      {{1, 4, 3, 3, 3}, {4, 1, 1, 3, 3}, {}, {0, 1, 1, 0, 1, 1}, {}, 4}};
  for (const Case& c : cases)
    for (const bool bias : {false, true}) {
      Builder b;
      Attributes a = WindowOf({}, c.strides, c.pads, c.dilations);
      a.Set("group", c.group);
      std::vector<ValueId> inputs = {b.Input(c.in), b.Weight(c.weights)};
      if (bias) inputs.push_back(b.Weight({c.weights[0]}));
      Graph& g = b.Output(b.Op("Conv", inputs, a));
      ExpectSame(g, SliceVolumeConvolutions);
      EXPECT_FALSE(HasVolume(g, "Conv")) << ToText(g);
      EXPECT_EQ(CountOf(g, "Conv"), c.group > 1 ? c.weights[2] : 1) << ToText(g);
    }
}

// Taps side by side would be 201 MB. The Slice of a tap comes right before its convolution, when that of the
// tap before needs no memory any more.
TEST(SliceVolumeConvolutions, ConvolvesTheTapsOfLargeVolumesOneByOne) {
  Builder b;
  const Attributes a = WindowOf({}, {}, {1, 1, 1, 1, 1, 1});
  Graph& g = b.Output(b.Op("Conv", {b.Input({1, 8, 32, 256, 256}), b.Weight({2, 8, 3, 3, 3})}, a));
  FoldConstants(g);
  Settle(g);
  EXPECT_TRUE(SliceVolumeConvolutions(g));
  Settle(g);
  std::string order;
  for (const Node& node : g.nodes)
    if (IsOneOf(node.op, {"Slice", "Conv", "Add", "Concat"})) order += node.op + " ";
  EXPECT_EQ(order, "Slice Conv Slice Conv Add Slice Conv Add ");
}

struct TransposedCase {
  Shape in, weights;
  Ints strides, pads, dilations, output_padding;
};

TEST(SliceVolumeConvolutions, WritesTransposedConvolutions) {
  const TransposedCase cases[] = {
      // windows that do not overlap along the depth
      {{1, 3, 4, 5, 6}, {3, 2, 2, 2, 2}, {2, 2, 2}, {}, {}, {}},
      {{2, 3, 4, 5, 6}, {3, 2, 2, 2, 2}, {2, 2, 2}, {}, {}, {}},
      {{2, 2, 1, 3, 3}, {2, 3, 3, 4, 3}, {3, 2, 1}, {0, 1, 1, 0, 1, 1}, {1, 1, 2}, {0, 1, 0}},
      {{2, 2, 3, 3, 3}, {2, 3, 1, 3, 3}, {1, 2, 2}, {0, 1, 1, 0, 0, 1}, {}, {0, 1, 0}},
      // windows that do
      {{1, 2, 3, 3, 3}, {2, 3, 3, 3, 3}, {2, 2, 2}, {1, 1, 1, 1, 1, 1}, {}, {1, 1, 1}},
      {{2, 2, 3, 3, 3}, {2, 3, 4, 4, 4}, {2, 2, 2}, {1, 1, 1, 1, 1, 1}, {}, {}},
      {{2, 2, 4, 3, 2}, {2, 3, 3, 1, 2}, {1, 1, 1}, {1, 0, 0, 0, 0, 0}, {}, {}},
      {{1, 2, 3, 3, 3}, {2, 1, 5, 2, 2}, {3, 1, 2}, {2, 0, 0, 1, 0, 0}, {}, {2, 0, 0}},
      {{2, 2, 3, 2, 2}, {2, 3, 3, 1, 1}, {2, 1, 1}, {1, 0, 0, 2, 0, 0}, {2, 1, 1}, {}},
      {{1, 2, 5, 2, 2}, {2, 3, 2, 1, 1}, {1, 1, 1}, {}, {3, 1, 1}, {}},
      // slices that no window reaches, in front of the first one and between
      {{2, 2, 3, 3, 3}, {2, 3, 2, 1, 1}, {3, 1, 1}, {1, 0, 0, 0, 0, 0}, {}, {}},
      {{1, 2, 3, 3, 3}, {2, 3, 1, 1, 1}, {4, 1, 1}, {}, {}, {3, 0, 0}}};
  for (const TransposedCase& c : cases)
    for (const bool bias : {false, true}) {
      Builder b;
      Attributes a = WindowOf({}, c.strides, c.pads, c.dilations);
      if (!c.output_padding.empty()) a.Set("output_padding", c.output_padding);
      std::vector<ValueId> inputs = {b.Input(c.in), b.Weight(c.weights)};
      if (bias) inputs.push_back(b.Weight({c.weights[1]}));
      Graph& g = b.Output(b.Op("ConvTranspose", inputs, a));
      ExpectSame(g, SliceVolumeConvolutions);
      EXPECT_FALSE(HasVolume(g, "ConvTranspose")) << ToText(g);
      EXPECT_EQ(CountOf(g, "ConvTranspose"), 1) << ToText(g);
    }
}

TEST(SliceVolumeConvolutions, KeepsTheSizesOfTransposedConvolutions) {
  for (const bool stated : {false, true}) {
    Builder b;
    Attributes a = WindowOf({}, {2, 2, 1}, {});
    if (stated) a.Set("output_shape", Ints{5, 6, 4});
    else a.Set("auto_pad", std::string("SAME_UPPER"));
    Graph& g = b.Output(b.Op("ConvTranspose", {b.Input({1, 2, 3, 3, 4}), b.Weight({2, 3, 3, 3, 3})}, a));
    ExpectSame(g, SliceVolumeConvolutions);
    EXPECT_FALSE(HasVolume(g, "ConvTranspose")) << ToText(g);
  }
}

// The lags side by side would be 134 MB.
TEST(SliceVolumeConvolutions, ConvolvesTheLagsOfLargeVolumesOneByOne) {
  Builder b;
  const Attributes a = WindowOf({}, {2, 1, 1}, {1, 1, 1, 1, 1, 1});
  Graph& g = b.Output(
      b.Op("ConvTranspose", {b.Input({1, 8, 32, 256, 256}), b.Weight({8, 2, 4, 3, 3}), b.Weight({2})}, a));
  FoldConstants(g);
  Settle(g);
  EXPECT_TRUE(SliceVolumeConvolutions(g));
  Settle(g);
  EXPECT_EQ(CountOf(g, "ConvTranspose"), 2) << ToText(g);
  EXPECT_EQ(CountOf(g, "Concat"), 0) << ToText(g);
}

// Slices that no window reaches would need padding without a bound.
TEST(SliceVolumeConvolutions, LeavesTransposedConvolutionsOfFarOutputs) {
  Builder b;
  Attributes a;
  a.Set("output_shape", Ints{100000, 1, 1});
  Graph& g = b.Output(b.Op("ConvTranspose", {b.Input({1, 1, 2, 1, 1}), b.Weight({1, 1, 2, 1, 1})}, a));
  FoldConstants(g);
  Settle(g);
  EXPECT_FALSE(SliceVolumeConvolutions(g)) << ToText(g);
}

TEST(SliceVolumeConvolutions, LeavesTransposedConvolutionsOfGroupsAndOfManyTaps) {
  Attributes groups = WindowOf({}, {2, 1, 1}, {}), far = WindowOf({}, {1, 1, 1}, {}, {33, 1, 1}),
             steps = WindowOf({}, {33, 1, 1}, {}), cropped = WindowOf({}, {}, {2, 0, 0, 0, 0, 0}),
             sized = WindowOf({}, {2, 1, 1}, {});
  groups.Set("group", int64_t{2});
  sized.Set("output_shape", Ints{1, 3, 6, 4, 4});
  for (const Attributes& a : {groups, far, steps, cropped, sized}) {
    Builder b;
    Graph& g = b.Output(b.Op("ConvTranspose", {b.Input({1, 2, 3, 4, 4}), b.Weight({2, 3, 2, 1, 1})}, a));
    FoldConstants(g);
    Settle(g);
    EXPECT_FALSE(SliceVolumeConvolutions(g)) << ToText(g);
  }
}

TEST(SliceVolumeConvolutions, KeepsAutomaticPadding) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    for (const int64_t depth : {4, 5}) {
      Builder b;
      Attributes a = WindowOf({}, {2, 2, 1}, {});
      a.Set("auto_pad", std::string(mode));
      const ValueId x = b.Op("Conv", {b.Input({2, 2, depth, 6, 5}), b.Weight({3, 2, 3, 2, 3})}, a);
      a = WindowOf({2, 3, 2}, {1, 2, 1}, {});
      a.Set("auto_pad", std::string(mode));
      Graph& g = b.Output(b.Op("MaxPool", {x}, a));
      if (depth == 4 && std::string(mode) == "VALID") continue;  // one slice is too few for the pool
      ExpectSame(g, SliceVolumeConvolutions);
      EXPECT_FALSE(HasVolume(g, "Conv") || HasVolume(g, "MaxPool")) << ToText(g);
    }
}

TEST(SliceVolumeConvolutions, GivesTheSameForEveryPool) {
  const std::tuple<Shape, Ints, Ints, Ints> cases[] = {
      {{1, 3, 4, 5, 6}, {1, 2, 2}, {1, 2, 2}, {}},                  // images alone
      {{1, 3, 4, 5, 6}, {2, 1, 1}, {2, 1, 1}, {}},                  // depth alone
      {{2, 3, 5, 5, 6}, {2, 2, 2}, {2, 2, 2}, {}},                  // both
      {{2, 3, 5, 5, 6}, {3, 3, 3}, {1, 2, 1}, {0, 1, 1, 0, 1, 0}},  // windows that overlap
      {{1, 3, 6, 5, 6}, {3, 3, 3}, {2, 2, 2}, {}},
      {{2, 3, 5, 5, 6}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}},  // padded along the depth
      {{1, 3, 6, 4, 4}, {4, 1, 1}, {3, 1, 1}, {2, 0, 0, 1, 0, 0}},
      {{2, 2, 3, 4, 4}, {2, 2, 2}, {2, 2, 2}, {1, 0, 0, 0, 1, 1}},
      {{1, 3, 4, 5, 6}, {1, 1, 1}, {}, {}},  // nothing
      {{2, 3, 4, 5, 6}, {1, 1, 1}, {3, 2, 1}, {}}};
  for (const auto& [in, kernel, strides, pads] : cases)
    for (const char* op : {"MaxPool", "AveragePool"})
      for (const int64_t counts : {0, 1})
        for (const int64_t ceil : {0, 1}) {
          Builder b;
          Attributes a = WindowOf(kernel, strides, pads);
          if (std::string(op) == "AveragePool") a.Set("count_include_pad", counts);
          a.Set("ceil_mode", ceil);
          Graph& g = b.Output(b.Op(op, {b.Input(in)}, a));
          FoldConstants(g);
          Settle(g);
          ExpectSame(g, SliceVolumeConvolutions);
          EXPECT_FALSE(HasVolume(g, op)) << ToText(g);
        }
}

TEST(SliceVolumeConvolutions, PadsTheDepthOfAMaximumWithWhatIsNone) {
  for (const int64_t batch : {1, 2}) {
    Builder b;
    const ValueId x = b.Op("Neg", {b.Op("Exp", {b.Input({batch, 2, 5, 4, 4})})});  // below 0
    Attributes a = WindowOf({3, 2, 2}, {2, 2, 2}, {1, 0, 0, 1, 0, 0}, {1, 2, 1});
    a.Set("ceil_mode", int64_t{1});
    Graph& g = b.Output(b.Op("MaxPool", {x}, a));
    ExpectSame(g, SliceVolumeConvolutions);
    EXPECT_FALSE(HasVolume(g, "MaxPool")) << ToText(g);
  }
}

TEST(SliceVolumeConvolutions, WritesGlobalPools) {
  for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"})
    for (const int64_t batch : {1, 3}) {
      Builder b;
      const ValueId pooled = b.Op(op, {b.Input({batch, 4, 3, 5, 2})});
      Graph& g = b.Output(b.Op("Flatten", {pooled}));
      ExpectSame(g, SliceVolumeConvolutions);
      EXPECT_FALSE(HasVolume(g, op)) << ToText(g);
    }
}

Attributes Axis(int64_t axis) {
  Attributes a;
  a.Set("axis", axis);
  return a;
}

ValueId Volume(Builder& b, ValueId x, const Shape& weights) {
  return b.Op("Conv", {x, b.Weight(weights), b.Weight({weights[0]})},
              WindowOf({}, {},
                       {weights[2] / 2, weights[3] / 2, weights[4] / 2, weights[2] / 2, weights[3] / 2,
                        weights[4] / 2}));
}

// What is between two convolutions is computed on slices, and a chain has one Transpose at each end.
TEST(SliceVolumeConvolutions, KeepsSlicesBetweenConvolutions) {
  for (const int64_t batch : {1, 2}) {
    Builder b;
    ValueId x = Volume(b, b.Input({batch, 2, 4, 5, 5}), {4, 2, 3, 3, 3});
    x = b.Op("Relu", {b.BatchNorm(x, 4)});
    x = b.Op("Mul", {x, b.Weight({4, 1, 1, 1})});
    x = b.Op("Add", {b.Op("PRelu", {x, b.Weight({4, 1, 1, 1})}), b.Weight({1, 4, 1, 1, 5})});
    x = b.Op("Clip", {x, b.Scalar(-1), b.Scalar(2)});
    const ValueId y = b.Op("Sigmoid", {Volume(b, x, {4, 4, 1, 1, 1})});
    x = b.Op("Concat", {b.Op("Mul", {x, y}), b.Op("Add", {x, b.Weight({5, 5})})}, Axis(1));
    x = b.Op("Concat", {x, x}, Axis(-1));
    Graph& g = b.Output(Volume(b, x, {3, 8, 3, 3, 1}));
    ExpectSame(g, FoldBatchNorm);
    ExpectSame(g, SliceVolumeConvolutions);
    EXPECT_EQ(CountOf(g, "Transpose"), 2) << ToText(g);
    for (const Node& node : g.nodes) {
      const bool end = IsOneOf(node.op, {"Transpose", "Squeeze", "Unsqueeze", "Reshape"});
      EXPECT_TRUE(end || g.value(node.outputs[0]).shape.rank() == 4) << ToText(g);
    }
  }
}

// The gate of a squeeze-and-excitation has one slice for all.
TEST(SliceVolumeConvolutions, ScalesSlicesByAGate) {
  for (const int64_t batch : {1, 2}) {
    Builder b;
    const ValueId x = Volume(b, b.Input({batch, 2, 4, 5, 5}), {4, 2, 3, 3, 3});
    const ValueId gate = b.Op("Sigmoid", {Volume(b, b.Op("GlobalAveragePool", {x}), {4, 4, 1, 1, 1})});
    Graph& g = b.Output(b.Op("Mul", {x, gate}));
    ExpectSame(g, SliceVolumeConvolutions);
    EXPECT_FALSE(HasVolume(g, "Conv"));
    EXPECT_EQ(HasVolume(g, "Mul"), batch > 1) << ToText(g);
  }
}

TEST(SliceVolumeConvolutions, GivesVolumesToOtherReaders) {
  Builder b;
  const ValueId x = Volume(b, b.Input({2, 3, 4, 2, 3}), {4, 3, 3, 1, 1});
  b.Output(x);
  b.Output(b.Op("Softmax", {x}, Axis(2)));
  b.Output(b.Op("Concat", {x, x}, Axis(2)));
  b.Output(b.Op("Add", {x, b.Weight({4, 1, 1})}));
  b.Output(b.Op("Add", {x, b.Weight({4, 1, 1, 3})}));
  b.Output(b.Op("Add", {x, b.Input({2, 1, 4, 2, 1})}));
  b.Output(b.Op("Add", {x, b.Input({2, 4, 1, 2, 3})}));
  Attributes groups;
  groups.Set("group", int64_t{2});
  Graph& g = b.Output(b.Op("ConvTranspose", {x, b.Weight({4, 2, 2, 2, 2})}, groups));
  ExpectSame(g, SliceVolumeConvolutions);
  EXPECT_TRUE(HasVolume(g, "ConvTranspose"));
}

TEST(SliceVolumeConvolutions, LeavesWhatItCannotWrite) {
  Builder b;
  const ValueId x = b.Input({1, 2, 5, 4, 4});
  b.Output(b.Op("Conv", {x, b.Input({2, 2, 1, 1, 1})}));                    // weights that are computed
  b.Output(b.Op("Conv", {b.Input({1, 2, 4, 4}), b.Weight({2, 2, 3, 3})}));  // an image
  b.Output(b.Op("Conv", {b.Input({1, 1, 40, 1, 1}), b.Weight({1, 1, 33, 1, 1})}));  // many taps
  const int64_t far = int64_t(1) << 29;                                             // padding without a bound
  b.Output(b.Op("MaxPool", {x}, WindowOf({1, 1, 1}, {far, 1, 1}, {far, 0, 0, far, 0, 0})));
  b.Output(b.Op("Conv", {x, b.Weight({2, 2, 2, 1, 1})},
                WindowOf({}, {far, 1, 1}, {far, 0, 0, far, 0, 0}, {far, 1, 1})));
  Graph& g = b.Output(b.Op("Relu", {x}));
  FoldConstants(g);
  Settle(g);
  EXPECT_FALSE(SliceVolumeConvolutions(g)) << ToText(g);
}

TEST(SliceVolumeConvolutions, LeavesAPoolWhoseIndicesAreRead) {
  Builder b;
  const ValueId x = b.Input({1, 2, 4, 4, 4}), y = b.graph.AddValue("y"), at = b.graph.AddValue("at");
  b.graph.AddNode("MaxPool", "pool", {x}, {y, at}, WindowOf({2, 2, 2}, {}, {}));
  b.Output(y);
  Graph& g = b.Output(at);
  FoldConstants(g);
  Settle(g);
  EXPECT_FALSE(SliceVolumeConvolutions(g)) << ToText(g);
}

// A small network for videos, as frames before channels.
Graph Video(int64_t batch) {
  Builder b;
  Attributes swap;
  swap.Set("perm", Ints{0, 2, 1, 3, 4});
  ValueId x = b.Op("Transpose", {b.Input({batch, 6, 3, 9, 8})}, swap);
  x = b.Op("Relu", {Volume(b, x, {8, 3, 3, 3, 3})});
  x = b.Op("MaxPool", {x}, WindowOf({2, 2, 2}, {2, 2, 2}, {}));
  ValueId y = b.Op("Relu", {b.BatchNorm(Volume(b, x, {8, 8, 3, 1, 1}), 8)});
  x = b.Op("Relu", {b.Op("Add", {Volume(b, y, {8, 8, 1, 3, 3}), x})});
  Attributes depthwise = WindowOf({}, {2, 1, 1}, {1, 1, 1, 1, 1, 1});
  depthwise.Set("group", int64_t{8});
  x = b.Op("Conv", {x, b.Weight({8, 1, 3, 3, 3}), b.Weight({8})}, depthwise);
  x = b.Op("AveragePool", {x}, WindowOf({2, 2, 2}, {}, {}));
  x = b.Op("Flatten", {b.Op("GlobalAveragePool", {x})});
  return b.Output(b.Op("MatMul", {x, b.Weight({8, 5})}));
}

TEST(SliceVolumeConvolutions, LeavesNoVolumeInANetwork) {
  for (const int64_t batch : {1, 2}) {
    Graph g = Video(batch);
    FoldConstants(g);
    Settle(g);
    ExpectSameOutputs(g, [](Graph& graph) {
      RunPasses(graph);
      return true;
    });
    for (const Node& node : g.nodes) {
      const bool moves = IsOneOf(node.op, {"Flatten", "Transpose", "Squeeze", "Unsqueeze", "Reshape"});
      EXPECT_TRUE(moves || !HasVolume(g, node.op)) << node.op << "\n" << ToText(g);
    }
    // one at the beginning, and one to channels last
    EXPECT_LE(CountOf(g, "Transpose"), batch == 1 ? 2 : 100) << ToText(g);
  }
}

// Sizes of one batch are not in the nodes, so that the passes need not run for each.
TEST(SliceVolumeConvolutions, HoldsForOtherSizesOfTheVolume) {
  Builder b;
  ValueId x = b.Op("Relu", {Volume(b, b.Input({1, 2, 4, 6, 6}), {4, 2, 3, 3, 3})});
  x = b.Op("MaxPool", {x}, WindowOf({1, 2, 2}, {1, 2, 2}, {}));
  const Graph imported = b.Output(b.Op("GlobalAveragePool", {Volume(b, x, {3, 4, 3, 1, 1})}));
  Graph fixed = imported;
  (void)RunPasses(fixed);
  ShapedGraphs graphs(imported, fixed, {{kFixed, kFixed, 0, 1, 2}}, PassChoice{});
  for (const Shape& shape : {Shape{1, 2, 7, 5, 8}, {1, 2, 3, 6, 6}}) {
    Graph plain = imported;
    plain.value(plain.inputs[0]).shape = shape;
    FoldConstants(plain);
    Settle(plain);
    const Graph shaped = *graphs.At(std::vector{shape}).graph;
    Verify(shaped);
    const Tensor want = Evaluate(plain)[0], got = Evaluate(shaped)[0];
    ASSERT_EQ(got.shape(), want.shape());
    for (int64_t i = 0; i < want.elements(); ++i)
      EXPECT_NEAR(got.as<float>()[i], want.as<float>()[i], 1e-4) << i;
    EXPECT_FALSE(HasVolume(shaped, "Conv")) << ToText(shaped);
  }
  EXPECT_EQ(graphs.note(), "");
}

// What a window with a stride leaves out behind the last one depends on the depth.
TEST(SliceVolumeConvolutions, StridesHoldForOtherDepths) {
  const auto conv = [](Builder& b, ValueId x, const Attributes& a) {
    return b.Op("Conv", {x, b.Weight({3, 2, 3, 1, 1})}, a);
  };
  const auto pool = [](Builder& b, ValueId x, const Attributes& a) { return b.Op("MaxPool", {x}, a); };
  Attributes same = WindowOf({}, {2, 1, 1}, {}), ceil = WindowOf({3, 1, 1}, {2, 1, 1}, {});
  same.Set("auto_pad", std::string("SAME_UPPER"));
  ceil.Set("ceil_mode", int64_t{1});
  const std::tuple<std::function<ValueId(Builder&, ValueId, const Attributes&)>, Attributes> cases[] = {
      {conv, WindowOf({}, {2, 1, 1}, {1, 0, 0, 1, 0, 0})},
      {conv, WindowOf({}, {3, 1, 1}, {})},
      {conv, same},
      {pool, WindowOf({3, 1, 1}, {3, 1, 1}, {})},
      {pool, ceil}};
  for (const auto& [op, attributes] : cases)
    for (const int64_t made_for : {9, 10, 16}) {
      Builder b;
      const Graph imported = b.Output(b.Op("Relu", {op(b, b.Input({1, 2, made_for, 3, 3}), attributes)}));
      Graph fixed = imported;
      (void)RunPasses(fixed);
      ShapedGraphs graphs(imported, fixed, {{kFixed, kFixed, 0, kFixed, kFixed}}, PassChoice{});
      for (int64_t depth = 7; depth < 19; ++depth) {
        SCOPED_TRACE(testing::Message() << "for " << made_for << " at " << depth);
        Graph plain = imported;
        const Shape shape{1, 2, depth, 3, 3};
        plain.value(plain.inputs[0]).shape = shape;
        FoldConstants(plain);
        Settle(plain);
        const Tensor want = Evaluate(plain)[0], got = Evaluate(*graphs.At(std::vector{shape}).graph)[0];
        ASSERT_EQ(got.shape(), want.shape());
        for (int64_t i = 0; i < want.elements(); ++i)
          ASSERT_NEAR(got.as<float>()[i], want.as<float>()[i], 1e-4) << i;
      }
    }
}

}  // namespace
}  // namespace mete
