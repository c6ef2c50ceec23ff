// Tests of convolutions of bytes that are written as those of images: transposed ones, and those along a line
// and of volumes.
#include "passes/quantized_testing.h"
#include "passes/transposed_testing.h"

namespace mete {
namespace {

const TransposedCase kCases[] = {{{2, 5, 4, 5}, {5, 9, 2, 2}, 2, {0, 0, 0, 0}, {}},
                                 {{1, 5, 4, 5}, {5, 3, 4, 4}, 2, {1, 1, 1, 1}, {}},
                                 {{1, 5, 4, 5}, {5, 17, 3, 3}, 2, {1, 1, 1, 1}, {1, 1}},
                                 {{1, 4, 1, 1}, {4, 2, 3, 5}, 2, {0, 2, 1, 1}, {}},
                                 {{1, 4, 3, 4}, {4, 1, 3, 3}, 3, {0, 0, 0, 0}, {}},
                                 {{1, 3, 6, 4}, {3, 5, 3, 3}, 1, {1, 0, 2, 1}, {}}};

// Runs the pass between two foldings, as RunPasses does.
Graph& Fused(Graph& graph) {
  FoldConstants(graph, {.keep_dequantized = true});
  Settle(graph);
  EXPECT_TRUE(FuseQuantized(graph));
  FoldConstants(graph);
  Settle(graph);
  return graph;
}

TEST(FuseQuantized, ATransposedConvolutionBecomesOneOfBytes) {
  for (const DType type : {DType::kI8, DType::kU8}) {
    for (const TransposedCase& c : kCases) {
      for (const bool relu : {false, true}) {
        QuantizedBuilder b;
        const ValueId x = b.Rounded(b.Input(c.in), type);
        ValueId y =
            b.Op("ConvTranspose", {x, b.Weights(c.weights, 1), b.Bias(c.weights[1])}, AttributesOf(c));
        if (relu) y = b.Op("Relu", {y});
        Graph& g = b.Output(b.Rounded(y, type));
        ExpectSameToAStep(g);
        EXPECT_EQ(CountOf(g, "ConvTranspose") + CountOf(g, "Relu"), 0) << ToText(g);
        ASSERT_EQ(CountOf(g, "QLinearConv"), 1) << ToText(g);
        EXPECT_EQ(Find(g, "QLinearConv")->attributes.Has(kLevels), relu);
        const Node* place = Find(g, "DepthToSpace");
        EXPECT_TRUE(!place || g.value(place->inputs[0]).type == type);
      }
    }
  }
}

// Taps that the kernel does not have are zero points of their channels.
TEST(FuseQuantized, ATransposedConvolutionHasTheZeroPointsOfItsWeights) {
  for (const TransposedCase& c : kCases) {
    QuantizedBuilder b;
    Tensor weights(DType::kU8, c.weights), zeros(DType::kU8, {c.weights[1]});
    for (int64_t i = 0; i < weights.elements(); ++i)
      weights.mutable_view().as<uint8_t>()[i] = uint8_t(i * 37 % 251);
    std::vector<float> scales;
    for (int64_t i = 0; i < c.weights[1]; ++i) {
      zeros.mutable_view().as<uint8_t>()[i] = uint8_t(100 + 7 * i);
      scales.push_back(0.001f * float(i + 1));
    }
    const ValueId w = b.Op("DequantizeLinear", {b.graph.AddConstant("w", weights), b.Floats(scales),
                                                b.graph.AddConstant("zeros", zeros)});
    const ValueId x = b.Rounded(b.Input(c.in), DType::kU8);
    Graph& g = b.Output(b.Rounded(b.Op("ConvTranspose", {x, w}, AttributesOf(c)), DType::kU8));
    ExpectSameToAStep(g);
    EXPECT_EQ(CountOf(g, "QLinearConv"), 1) << ToText(g);
  }
}

TEST(FuseQuantized, ATransposedConvolutionWithoutARoundingGivesFloats) {
  for (const TransposedCase& c : kCases) {
    QuantizedBuilder b;
    const ValueId x = b.Rounded(b.Input(c.in));
    Graph& g = b.Output(
        b.Op("ConvTranspose", {x, b.Weights(c.weights, 1), b.Bias(c.weights[1], 2)}, AttributesOf(c)));
    FoldConstants(g, {.keep_dequantized = true});
    Settle(g);
    ExpectSameOutputs(g, FuseQuantized);
    EXPECT_EQ(CountOf(g, "mete.ScaledConvInteger"), 1) << ToText(g);
  }
}

// A zero point of the weights that is computed is no padding of taps.
TEST(FuseQuantized, ATransposedConvolutionWithAComputedZeroPointStaysInFloats) {
  for (const int64_t kernel : {2, 3}) {
    QuantizedBuilder b;
    const ValueId w = b.Weights({4, 5, kernel, kernel}, 1), x = b.Rounded(b.Input({1, 4, 3, 3}));
    const ValueId zero = b.graph.AddValue("zero", DType::kI8, Shape{5});
    b.graph.inputs.push_back(zero);
    b.graph.nodes[0].inputs.push_back(zero);
    Attributes a;
    a.Set("strides", Ints{2, 2});
    Graph& g = b.Output(b.Rounded(b.Op("ConvTranspose", {x, w}, a)));
    Fused(g);
    EXPECT_EQ(CountOf(g, "ConvTranspose"), 1) << ToText(g);
  }
}

// A bias that is computed, and bytes of other types at both ends.
TEST(FuseQuantized, ATransposedConvolutionTakesAComputedBias) {
  QuantizedBuilder b;
  Attributes a;
  a.Set("strides", Ints{2, 2});
  const ValueId x = b.Rounded(b.Input({1, 4, 3, 3}), DType::kU8), w = b.Weights({4, 5, 3, 3}, 1);
  Graph& g = b.Output(b.Op("ConvTranspose", {x, w, b.Input({5})}, a));
  FoldConstants(g, {.keep_dequantized = true});
  Settle(g);
  ExpectSameOutputs(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "mete.ScaledConvInteger"), 1) << ToText(g);

  QuantizedBuilder mixed;
  const ValueId y = mixed.Rounded(mixed.Input({1, 4, 3, 3}), DType::kU8), v = mixed.Weights({4, 5, 3, 3}, 1);
  Graph& both = mixed.Output(mixed.Rounded(mixed.Op("ConvTranspose", {y, v}, a), DType::kI8));
  ExpectSameToAStep(both);
  EXPECT_EQ(CountOf(both, "QLinearConv"), 1) << ToText(both);
}

// A kernel of 2 at stride 4 leaves three of four rests without a tap.
TEST(FuseQuantized, ATransposedConvolutionOfMostlyZerosStaysInFloats) {
  QuantizedBuilder b;
  Attributes a;
  a.Set("strides", Ints{4, 4});
  const ValueId x = b.Rounded(b.Input({1, 4, 3, 3})), w = b.Weights({4, 5, 2, 2}, 1);
  Graph& g = b.Output(b.Rounded(b.Op("ConvTranspose", {x, w}, a)));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "ConvTranspose"), 1) << ToText(g);
}

// Groups and scales for each input channel stay with the kernels of floats, and ONNX Runtime has no others.
TEST(FuseQuantized, SomeTransposedConvolutionsStayInFloats) {
  const auto count = [](int64_t groups, int axis, bool (*pass)(Graph&)) {
    QuantizedBuilder b;
    Attributes a;
    a.Set("group", groups);
    const ValueId w = b.Weights({6, 6 / groups, 3, 3}, axis);
    Graph& g = b.Output(b.Rounded(b.Op("ConvTranspose", {b.Rounded(b.Input({1, 6, 4, 4})), w}, a)));
    ExpectSameToAStep(g, pass);
    return CountOf(g, "ConvTranspose");
  };
  EXPECT_EQ(count(1, 1, FuseQuantized), 0);
  EXPECT_EQ(count(2, 1, FuseQuantized), 1);
  EXPECT_EQ(count(1, 0, FuseQuantized), 1);
  EXPECT_EQ(count(1, 1, FuseQuantizedAsOnnxRuntime), 1);
}

// A convolution of bytes of a graph that FuseQuantized() has made.
struct OfBytes {
  Shape in, weights;
  Ints strides, pads, dilations;
  int64_t group = 1;
};

Graph& Quantized(QuantizedBuilder& b, const OfBytes& c, DType type, bool rounds) {
  Attributes a;
  if (!c.strides.empty()) a.Set("strides", c.strides);
  if (!c.pads.empty()) a.Set("pads", c.pads);
  if (!c.dilations.empty()) a.Set("dilations", c.dilations);
  a.Set("group", c.group);
  const ValueId x = b.Rounded(b.Input(c.in), type);
  const ValueId y = b.Op("Conv", {x, b.Weights(c.weights, 0), b.Bias(c.weights[0])}, a);
  Graph& g = b.Output(rounds ? b.Rounded(b.Op("Relu", {y}), type) : y);
  Fused(g);
  return g;
}

bool AllOfImages(const Graph& graph, const std::string& op) {
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.op != op || graph.value(node.inputs[0]).shape.rank() == 4;
  });
}

void ExpectImages(const std::vector<OfBytes>& cases, bool (*pass)(Graph&)) {
  for (const DType type : {DType::kI8, DType::kU8})
    for (const OfBytes& c : cases)
      for (const bool rounds : {true, false}) {
        QuantizedBuilder b;
        Graph& g = Quantized(b, c, type, rounds);
        const char* op = rounds || c.group > 1 ? "QLinearConv" : "mete.ScaledConvInteger";
        if (!rounds && c.group > 1) continue;  // stays in floats
        ASSERT_EQ(CountOf(g, op), 1) << ToText(g);
        ExpectSame(g, pass);
        ASSERT_EQ(CountOf(g, op), 1) << ToText(g);
        EXPECT_TRUE(AllOfImages(g, op)) << ToText(g);
        EXPECT_EQ(Find(g, op)->attributes.Has(kLevels), rounds);
      }
}

TEST(WidenLineConvolutions, TakesThoseOfBytes) {
  ExpectImages({{{2, 3, 20}, {4, 3, 3}, {2}, {2, 1}, {2}},
                {{1, 3, 9}, {5, 3, 1}, {}, {}, {}},
                {{1, 4, 9}, {4, 1, 3}, {}, {1, 1}, {}, 4}},
               WidenLineConvolutions);
}

TEST(SliceVolumeConvolutions, TakesThoseOfBytes) {
  ExpectImages({{{1, 3, 4, 5, 6}, {2, 3, 1, 3, 3}, {}, {0, 1, 1, 0, 1, 1}, {}},
                {{2, 3, 4, 5, 6}, {2, 3, 3, 3, 3}, {}, {1, 1, 1, 1, 1, 1}, {}},
                {{2, 2, 6, 4, 3}, {3, 2, 3, 1, 2}, {2, 2, 1}, {1, 0, 1, 0, 1, 0}, {}},
                {{1, 2, 6, 5, 5}, {3, 2, 2, 2, 2}, {}, {0, 0, 1, 2, 1, 1}, {2, 1, 2}}},
               SliceVolumeConvolutions);
}

// Sums of bytes without a zero point, and with one that is computed, which is the padding.
TEST(ConvolutionsOfBytes, TakeAnyZeroPointOfTheirInput) {
  for (const bool volume : {false, true})
    for (const bool computed : {false, true}) {
      Builder b;
      Tensor weights(DType::kI8, volume ? Shape{4, 3, 3, 1, 2} : Shape{4, 3, 3});
      for (int64_t i = 0; i < weights.elements(); ++i)
        weights.mutable_view().as<int8_t>()[i] = int8_t(i * 37 % 101 - 50);
      const ValueId x = b.Input(volume ? Shape{2, 3, 4, 2, 3} : Shape{2, 3, 9}), q = b.graph.AddValue("q"),
                    scale = b.graph.AddValue("scale"), zero = b.graph.AddValue("zero");
      b.graph.AddNode("DynamicQuantizeLinear", "round", {x}, {q, scale, zero});
      Attributes a;
      a.Set("pads", volume ? Ints{1, 0, 0, 1, 0, 1} : Ints{2, 1});
      std::vector<ValueId> inputs = {q, b.graph.AddConstant("w", weights)};
      if (computed) inputs.push_back(zero);
      Attributes to;
      to.Set("to", std::string("f32"));
      Graph& g = b.Output(b.Op("Cast", {b.Op("ConvInteger", inputs, a)}, to));
      ExpectSame(g, volume ? SliceVolumeConvolutions : WidenLineConvolutions);
      EXPECT_EQ(CountOf(g, "ConvInteger"), 1);
      EXPECT_TRUE(AllOfImages(g, "ConvInteger")) << ToText(g);
    }
}

// An output without a reader is no value.
TEST(ConvolutionsOfBytes, NodesMayLackOutputs) {
  Builder b;
  Attributes axis;
  axis.Set("axis", int64_t{1});
  const ValueId part = b.graph.AddValue("part");
  const ValueId x = b.Op("Conv", {b.Input({1, 2, 3, 4, 4}), b.Weight({4, 2, 1, 1, 1})});
  b.graph.AddNode("Split", "split", {x}, {kNoValue, part}, axis);
  Graph& g = b.Output(part);
  ExpectSame(g, SliceVolumeConvolutions);
}

// Scales for each channel, along an axis from behind.
TEST(ConvolutionsOfBytes, ConversionsByChannelStayWide) {
  QuantizedBuilder b;
  Attributes axis;
  axis.Set("axis", int64_t{-2});
  const ValueId x = b.Op("Conv", {b.Input({1, 3, 9}), b.Weight({4, 3, 3})});
  const ValueId scales = b.Floats({0.1f, 0.2f, 0.3f, 0.4f});
  const ValueId q =
      b.Op("QuantizeLinear", {x, scales, b.graph.AddConstant("zeros", Tensor(DType::kI8, {4}))}, axis);
  const ValueId y =
      b.Op("DequantizeLinear", {q, scales, b.graph.AddConstant("none", Tensor(DType::kI8, {4}))}, axis);
  Graph& g = b.Output(b.Op("Conv", {y, b.Weight({2, 4, 3})}));
  ExpectSame(g, WidenLineConvolutions);
  RemoveUnused(g);
  EXPECT_EQ(CountOf(g, "Unsqueeze"), 1) << ToText(g);
}

// Groups of volumes have fast kernels of floats alone.
TEST(FuseQuantized, LeavesVolumesWithGroupsInFloats) {
  QuantizedBuilder b;
  Attributes a;
  a.Set("group", int64_t{4});
  const ValueId x = b.Rounded(b.Input({1, 4, 4, 5, 3}));
  Graph& g = b.Output(b.Rounded(b.Op("Conv", {x, b.Weights({4, 1, 3, 3, 3}, 0)}, a)));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "Conv"), 1) << ToText(g);
}

TEST(FuseQuantized, LeavesPoolsOfVolumesInFloats) {
  for (const char* op : {"MaxPool", "AveragePool", "GlobalAveragePool"}) {
    QuantizedBuilder b;
    Attributes a;
    if (op[0] != 'G') a.Set("kernel_shape", Ints{2, 2, 2});
    const ValueId x = b.Op("Conv", {b.Rounded(b.Input({1, 3, 4, 5, 5})), b.Weights({4, 3, 1, 1, 1}, 0)});
    Graph& g = b.Output(b.Rounded(b.Op(op, {b.Rounded(x)}, a)));
    ExpectSameToAStep(g);
    ASSERT_EQ(CountOf(g, op), 1) << ToText(g);
    EXPECT_EQ(g.value(Find(g, op)->inputs[0]).type, DType::kF32);
  }
}

TEST(WidenLineConvolutions, TakesGlobalPoolsBehindConvolutions) {
  for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"}) {
    Builder b;
    const ValueId x = b.Op("Conv", {b.Input({2, 3, 9}), b.Weight({4, 3, 3})});
    Graph& g = b.Output(b.Op(op, {x}));
    ExpectSame(g, WidenLineConvolutions);
    EXPECT_TRUE(AllOfImages(g, op)) << ToText(g);
  }
  QuantizedBuilder b;
  const ValueId x = b.Op("Conv", {b.Rounded(b.Input({2, 3, 9})), b.Weights({4, 3, 3}, 0)});
  Graph& g = b.Output(b.Rounded(b.Op("GlobalAveragePool", {b.Rounded(x)})));
  FoldConstants(g, {.keep_dequantized = true});
  Settle(g);
  ASSERT_TRUE(FuseQuantized(g));
  ExpectSame(g, WidenLineConvolutions);
  EXPECT_TRUE(AllOfImages(g, "mete.QLinearGlobalAveragePool")) << ToText(g);
  EXPECT_EQ(CountOf(g, "mete.QLinearGlobalAveragePool"), 1) << ToText(g);
}

// Between two convolutions along a line there are bytes, a sum, a table and a concatenation.
TEST(WidenLineConvolutions, BytesStayWideBetweenConvolutions) {
  QuantizedBuilder b;
  Attributes axis;
  axis.Set("axis", int64_t{1});
  const auto conv = [&](ValueId x, int64_t in) {
    return b.Rounded(b.Op("Conv", {x, b.Weights({4, in, 3}, 0), b.Bias(4)}));
  };
  const ValueId in = b.Rounded(b.Input({1, 3, 16})), x = conv(in, 3), other = conv(in, 3);
  const ValueId table = b.Rounded(b.Op("Sigmoid", {other})), sum = b.Rounded(b.Op("Add", {x, table}));
  Graph& g = b.Output(conv(b.Op("Concat", {x, sum}, axis), 8));
  Fused(g);
  ExpectSame(g, WidenLineConvolutions);
  RemoveUnused(g);
  EXPECT_EQ(CountOf(g, "Unsqueeze"), 1) << ToText(g);
  EXPECT_EQ(CountOf(g, "Squeeze"), 1) << ToText(g);
  EXPECT_EQ(CountOf(g, "mete.ByteTable") + CountOf(g, "mete.QLinearAdd"), 2) << ToText(g);
}

}  // namespace
}  // namespace mete
