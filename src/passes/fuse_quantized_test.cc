// Tests of the sums of quantized convolutions and of their order.
#include "passes/pass.h"

#include "passes/quantized_testing.h"

namespace mete {
namespace {

TEST(FuseQuantized, SumsIntegersWhereBothEndsAgree) {
  for (DType type : {DType::kI8, DType::kU8}) {
    QuantizedBuilder b;
    ValueId x = b.Dequantize(b.Quantize(b.Input({2, 5, 6, 7}), type), type);
    // The clip is redundant: i8 ends at -131 / 16 and 124 / 16, u8 at -3 / 16 and 252 / 16.
    x = b.Op("Clip", {b.Conv(x, 5, 9, 3), b.Scalar(-9), b.Scalar(16)});
    Graph& g = b.Output(b.Dequantize(b.Quantize(x, type), type));
    ExpectSameToAStep(g);
    ASSERT_TRUE(Find(g, "QLinearConv"));
    EXPECT_EQ(Find(g, "QLinearConv")->inputs.size(), 9u);
    EXPECT_EQ(CountOf(g, "Conv") + CountOf(g, "Clip"), 0);
  }
}

TEST(FuseQuantized, WeightsOfFourBitsAreReadAsBytes) {
  QuantizedBuilder b;
  Tensor weights(DType::kI4, {9, 5, 3, 3});
  for (int64_t i = 0; i < weights.elements(); ++i)
    weights.mutable_view().as<int8_t>()[i] = int8_t(i * 5 % 16 - 8);
  const ValueId scale = b.Scalar(0.01f);
  const ValueId x = b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7})));
  const ValueId w = b.Op("DequantizeLinear", {b.graph.AddConstant("w", weights), scale});
  Graph& g = b.Output(b.Rounded(b.Op("Conv", {x, w})));
  ExpectSameToAStep(g);
  ASSERT_TRUE(Find(g, "QLinearConv"));
  EXPECT_EQ(g.value(Find(g, "QLinearConv")->inputs[3]).type, DType::kI8);
}

// A zero point of a narrow type makes the levels of that type, which no kernel computes with.
TEST(FuseQuantized, LevelsOfNarrowTypesStayAsTheyAre) {
  for (const DType type : {DType::kF8E4M3FN, DType::kI4, DType::kF4E2M1}) {
    QuantizedBuilder b;
    const ValueId zero = b.graph.AddConstant("zero", Tensor(type, Shape{})), scale = b.Scalar(0.5f);
    const ValueId q = b.Op("QuantizeLinear", {b.Input({2, 3}), scale, zero});
    const ValueId moved = b.Op("Reshape", {b.Op("DequantizeLinear", {q, scale, zero}), b.Ints({6})});
    Graph& g = b.Output(b.Op(
        "Sigmoid", {b.Op("DequantizeLinear", {b.Op("QuantizeLinear", {moved, scale, zero}), scale, zero})}));
    ExpectSame(g, FuseQuantized);
    EXPECT_EQ(CountOf(g, "QuantizeLinear"), 2);
    EXPECT_EQ(CountOf(g, "mete.ByteTable"), 0);
  }
}

TEST(FuseQuantized, AClipThatCutsLevelsBoundsThem) {
  for (const bool relu : {false, true}) {
    QuantizedBuilder b;
    ValueId x = b.Conv(b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7}))), 5, 9, 3);
    x = relu ? b.Op("Relu", {x}) : b.Op("Clip", {x, b.Scalar(-0.53f), b.Scalar(2)});
    Graph& g = b.Output(b.Dequantize(b.Quantize(x)));
    ExpectSameToAStep(g);
    ASSERT_TRUE(Find(g, "QLinearConv"));
    // The zero point is 3, and a step is 1/16.
    EXPECT_EQ(Find(g, "QLinearConv")->attributes.IntList(kLevels), relu ? Ints({3, 127}) : Ints({-5, 35}));
    EXPECT_EQ(CountOf(g, "Conv") + CountOf(g, "Clip") + CountOf(g, "Relu"), 0);
  }
}

TEST(FuseQuantized, KeepsAClipWhoseBoundsAreComputed) {
  QuantizedBuilder b;
  const ValueId least = b.Input({});
  ValueId x = b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7})));
  x = b.Op("Clip", {b.Conv(x, 5, 9, 3), least});
  Graph& g = b.Output(b.Dequantize(b.Quantize(x)));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "QLinearConv"), 0);
  EXPECT_EQ(CountOf(g, "Clip"), 1);
}

TEST(FuseQuantized, KeepsAClipWhoseBoundIsNoNumber) {
  for (const bool low : {false, true}) {
    QuantizedBuilder b;
    const ValueId nan = b.Scalar(std::numeric_limits<float>::quiet_NaN()), one = b.Scalar(1);
    ValueId x = b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7})));
    x = b.Op("Clip", {b.Conv(x, 5, 9, 3), low ? nan : one, low ? one : nan});
    Graph& g = b.Output(b.Dequantize(b.Quantize(x)));
    FoldConstants(g, {.keep_dequantized = true});
    Settle(g);
    FuseQuantized(g);
    Settle(g);
    EXPECT_EQ(CountOf(g, "QLinearConv"), 0);
    EXPECT_EQ(CountOf(g, "Clip"), 1);
  }
}

// The operators on bytes take a number or a list, and not a matrix of one element.
TEST(FuseQuantized, LeavesWeightsWhoseScaleIsAMatrixOfOneElement) {
  for (const bool zero : {false, true}) {
    QuantizedBuilder b;
    const ValueId x = b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7})));
    const Tensor weights(DType::kI8, Shape{9, 5, 3, 3});
    const float scale = 0.01f;
    std::vector<ValueId> of_weights{
        b.graph.AddConstant("weights", weights),
        b.graph.AddConstant("scale", Tensor::Floats(zero ? Shape{} : Shape{1, 1}, {&scale, 1}))};
    if (zero) of_weights.push_back(b.graph.AddConstant("zero", Tensor(DType::kI8, Shape{1, 1})));
    const ValueId w = b.Op("DequantizeLinear", of_weights);
    Graph& g = b.Output(b.Dequantize(b.Quantize(b.Op("Conv", {x, w}))));
    FoldConstants(g, {.keep_dequantized = true});
    Settle(g);
    FuseQuantized(g);
    Settle(g);
    EXPECT_EQ(CountOf(g, "QLinearConv"), 0);
    EXPECT_EQ(CountOf(g, "Conv"), 1);
  }
}

TEST(FuseQuantized, LeavesABiasInOtherUnits) {
  QuantizedBuilder b;
  const ValueId x = b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7})));
  Graph& g = b.Output(b.Dequantize(b.Quantize(b.Conv(x, 5, 9, 3, 2))));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "QLinearConv"), 0);
}

TEST(FuseQuantized, DropsAReluThatSaturates) {
  for (const bool saturates : {true, false}) {
    QuantizedBuilder b;
    const ValueId x = b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7})));
    const ValueId y = b.Op("Relu", {b.Conv(x, 5, 9, 3)});
    // A zero point of 0 is the least level of u8; the builder's zero point is 3.
    const ValueId zero = b.graph.AddConstant("zero", Tensor(DType::kU8, Shape{}));
    const ValueId scale = b.Scalar(0.0625f);
    Graph& g =
        saturates
            ? b.Output(b.Op("DequantizeLinear", {b.Op("QuantizeLinear", {y, scale, zero}), scale, zero}))
            : b.Output(b.Dequantize(b.Quantize(y)));
    ExpectSameToAStep(g);
    ASSERT_TRUE(Find(g, "QLinearConv"));
    EXPECT_EQ(Find(g, "QLinearConv")->attributes.Has(kLevels), !saturates);
    EXPECT_EQ(CountOf(g, "Relu"), 0);
  }
}

// ONNX Runtime keeps the type of an int8 activation with two readers; one with a single reader becomes uint8.
TEST(FuseQuantized, GivesTheOrderOfFloatSumsWhereTheEndsDiffer) {
  for (const bool as_onnxruntime : {true, false}) {
    QuantizedBuilder b;
    const ValueId shared = b.Dequantize(b.Quantize(b.Input({2, 24, 6, 7})));
    const ValueId y =
        b.Dequantize(b.Quantize(b.Op("Clip", {b.Conv(shared, 24, 9, 1), b.Scalar(-9), b.Scalar(16)})));
    Graph& g = b.Output(b.Op("Concat", {y, shared}, [] {
      Attributes a;
      a.Set("axis", int64_t{1});
      return a;
    }()));
    ExpectSameToAStep(g, as_onnxruntime ? FuseQuantizedAsOnnxRuntime : FuseQuantized);
    EXPECT_EQ(CountOf(g, "Clip"), 0);
    ASSERT_EQ(CountOf(g, "Conv"), as_onnxruntime);
    ASSERT_EQ(CountOf(g, "QLinearConv"), !as_onnxruntime);
    if (!as_onnxruntime) continue;
    EXPECT_EQ(Find(g, "Conv")->attributes.Int("sum_piece", 0), 32);  // 42 pixels, 24 channels
    EXPECT_TRUE(g.value(Find(g, "Conv")->inputs[1]).is_constant());
  }
}

TEST(FuseQuantized, BytesStayInNhwcBetweenConvolutions) {
  QuantizedBuilder b;
  ValueId x = b.Dequantize(b.Quantize(b.Input({2, 5, 6, 7})));
  x = b.Dequantize(b.Quantize(b.Conv(x, 5, 9, 3)));
  x = b.Dequantize(b.Quantize(b.Conv(x, 9, 4, 1)));
  Graph& g = b.Output(x);
  ExpectSameToAStep(g);
  ExpectSame(g, ToNhwc);
  EXPECT_EQ(CountOf(g, "Transpose"), 2);  // one before and one behind the convolutions
  ASSERT_EQ(CountOf(g, "QLinearConv"), 2);
  for (const Node& n : g.nodes) {
    if (n.op == "QLinearConv") {
      EXPECT_EQ(n.attributes.String("layout", ""), "NHWC");
    }
  }
}

TEST(FuseQuantized, SumsProductsOfMatrices) {
  QuantizedBuilder b;
  const ValueId x = b.Dequantize(b.Quantize(b.Input({2, 5, 24})));
  Graph& g = b.Output(b.Dequantize(b.Quantize(b.Op("MatMul", {x, b.Weights({24, 9}, 1)}))));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "QLinearMatMul"), 1);
  EXPECT_EQ(CountOf(g, "MatMul"), 0);
}

// QLinearMatMul refuses a scale for each column there.
TEST(FuseQuantized, LeavesTheProductOfAVector) {
  QuantizedBuilder b;
  const ValueId x = b.Dequantize(b.Quantize(b.Input({24})));
  Graph& g = b.Output(b.Dequantize(b.Quantize(b.Op("MatMul", {x, b.Weights({24, 9}, 1)}))));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "MatMul"), 1);
}

TEST(FuseQuantized, SumsAGemmAsAConvolution) {
  for (const bool transposed : {false, true}) {
    QuantizedBuilder b;
    const ValueId x = b.Dequantize(b.Quantize(b.Input({3, 24})));
    Attributes attributes;
    attributes.Set("transB", int64_t{transposed});
    const ValueId w = transposed ? b.Weights({9, 24}, 0) : b.Weights({24, 9}, 1);
    Graph& g = b.Output(b.Dequantize(b.Quantize(b.Op("Gemm", {x, w, b.Bias(9)}, attributes))));
    ExpectSameToAStep(g);
    EXPECT_EQ(CountOf(g, "QLinearConv"), 1);
    EXPECT_EQ(CountOf(g, "Gemm"), 0);
    const auto conv = std::ranges::find(g.nodes, "QLinearConv", &Node::op);
    ASSERT_NE(conv, g.nodes.end());
    const Tensor& weights = g.value(conv->inputs[3]).constant;
    EXPECT_EQ(weights.source() != nullptr, !transposed) << "columns are read where they lie";
    ExpectSame(g, ToNhwc);
    ExpectSame(g, CancelTransposes);
    EXPECT_EQ(CountOf(g, "Transpose"), 0);
  }
}

// As the last layer of a network, whose scores nobody rounds.
TEST(FuseQuantized, AProductWithoutARoundingGivesFloats) {
  Attributes transposes;
  transposes.Set("transB", int64_t{1});
  const auto input = [](QuantizedBuilder& b, const Shape& shape, DType type) {
    return b.Rounded(b.Input(shape), type);
  };
  const auto expect = [](Graph& g, const char* op) {
    SCOPED_TRACE(op);
    FoldConstants(g, {.keep_dequantized = true});
    Settle(g);
    ExpectSameOutputs(g, FuseQuantized);
    EXPECT_EQ(CountOf(g, op), 1);
    EXPECT_EQ(CountOf(g, "Conv") + CountOf(g, "MatMul") + CountOf(g, "Gemm"), 0);
    if (CountOf(g, "mete.ScaledConvInteger") > 0) ExpectSame(g, ToNhwc);
  };
  for (const DType type : {DType::kI8, DType::kU8}) {
    // A bias need not be in units of the products.
    QuantizedBuilder conv, product, gemm, transposed;
    expect(conv.Output(conv.Op("Relu", {conv.Conv(input(conv, {2, 5, 6, 7}, type), 5, 9, 3, 2)})),
           "mete.ScaledConvInteger");
    const ValueId x = input(product, {2, 5, 24}, type);
    expect(product.Output(product.Op("MatMul", {x, product.Weights({24, 9}, 1)})),
           "mete.ScaledMatMulInteger");
    const ValueId a = input(gemm, {3, 24}, type);
    expect(gemm.Output(gemm.Op("Gemm", {a, gemm.Weights({24, 9}, 1), gemm.Bias(9)})),
           "mete.ScaledConvInteger");
    const ValueId c = input(transposed, {3, 24}, type);
    expect(transposed.Output(transposed.Op("Gemm", {c, transposed.Weights({9, 24}, 0)}, transposes)),
           "mete.ScaledConvInteger");
  }
}

// Groups are left in floats, and sums that 32 bits may not hold.
TEST(FuseQuantized, SomeProductsWithoutARoundingStayInFloats) {
  Attributes by_channel;
  by_channel.Set("group", int64_t{6});
  QuantizedBuilder groups;
  const ValueId x = groups.Rounded(groups.Input({1, 6, 5, 5}));
  Graph& g = groups.Output(groups.Op("Conv", {x, groups.Weights(Shape{6, 1, 3, 3}, 0)}, by_channel));
  FoldConstants(g, {.keep_dequantized = true});
  Settle(g);
  ExpectSameOutputs(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "Conv"), 1);

  constexpr int64_t kLong = (1 << 15) + 1;
  QuantizedBuilder sums;
  const ValueId a = sums.Rounded(sums.Input({1, kLong}));
  Graph& of_sums = sums.Output(sums.Op("MatMul", {a, sums.Weights({kLong, 2}, 1)}));
  FoldConstants(of_sums, {.keep_dequantized = true});
  FuseQuantized(of_sums);
  EXPECT_EQ(CountOf(of_sums, "MatMul"), 1);
}

// What reads the bytes of the Gemm stands before the nodes that the pass adds.
TEST(FuseQuantized, AGemmStaysInItsPlaceAmongAllPasses) {
  QuantizedBuilder b;
  const ValueId x = b.Dequantize(b.Quantize(b.Input({3, 24})));
  Graph& g = b.Output(b.Dequantize(b.Quantize(b.Op("Gemm", {x, b.Weights({24, 9}, 1), b.Bias(9)}))));
  RunPasses(g);
  EXPECT_EQ(CountOf(g, "QLinearConv"), 1);
  EXPECT_EQ(CountOf(g, "Gemm"), 0);
}

TEST(FuseQuantized, LeavesOtherNetworksAlone) {
  Builder b;
  Graph& g = b.Output(b.Conv(b.Input({1, 3, 5, 5}), 3, 4, 3));
  FoldConstants(g);
  EXPECT_FALSE(FuseQuantized(g));
}

// Returns a convolution of bytes that are padded with the byte `value`; their zero point is 3.
Graph ConvOfPaddedBytes(int8_t value) {
  QuantizedBuilder b;
  const ValueId bytes = b.Quantize(b.Input({1, 2, 5, 5}));
  const ValueId byte = b.graph.AddConstant("pad", Tensor::Of<int8_t>(DType::kI8, {}, std::span(&value, 1)));
  const ValueId padded = b.Op("Pad", {bytes, b.Ints({0, 0, 1, 0, 0, 0, 2, 3}), byte});
  return b.Output(b.Rounded(b.Conv(b.Dequantize(padded), 2, 3, 3)));
}

bool FuseAndFoldPad(Graph& graph) {
  FuseQuantized(graph);
  Settle(graph);
  return FoldPad(graph);
}

TEST(FoldPad, JoinsPaddingWithTheZeroPointOfBytes) {
  Graph g = ConvOfPaddedBytes(3);
  ExpectSameToAStep(g, FuseAndFoldPad);
  EXPECT_EQ(CountOf(g, "Pad"), 0);
  ASSERT_EQ(CountOf(g, "QLinearConv"), 1);
  EXPECT_EQ(Find(g, "QLinearConv")->attributes.IntList("pads"), (Ints{1, 0, 2, 3}));
}

TEST(FoldPad, LeavesPaddingOfBytesWithAnotherNumber) {
  Graph g = ConvOfPaddedBytes(0);
  FoldConstants(g, {.keep_dequantized = true});
  Settle(g);
  EXPECT_FALSE(FuseAndFoldPad(g));
  EXPECT_EQ(CountOf(g, "Pad"), 1);
}

}  // namespace
}  // namespace mete
