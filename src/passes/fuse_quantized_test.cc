// Tests of the sums of quantized convolutions and of their order.
#include "passes/pass.h"

#include "passes/graphs_testing.h"

namespace mete {
namespace {

// Builds networks of quantized activations with a scale of 1/16 and a zero point of 3, and of i8 weights with
// one scale per channel.
class QuantizedBuilder : public Builder {
 public:
  using Builder::Builder;
  ValueId Quantize(ValueId x, DType type = DType::kI8) {
    return Op("QuantizeLinear", {x, Scalar(0.0625f), Zero(type)});
  }
  ValueId Dequantize(ValueId x, DType type = DType::kI8) {
    return Op("DequantizeLinear", {x, Scalar(0.0625f), Zero(type)});
  }
  ValueId Conv(ValueId x, int64_t in, int64_t out, int64_t kernel, float bias_factor = 1) {
    return Op("Conv", {x, Weights(Shape{out, in, kernel, kernel}, 0), Bias(out, bias_factor)});
  }
  // Weights with a scale for each index of `axis`.
  ValueId Weights(const Shape& shape, int axis) {
    Tensor weights(DType::kI8, shape);
    for (int64_t i = 0; i < weights.elements(); ++i)
      weights.mutable_view().as<int8_t>()[i] = int8_t(i * 37 % 101 - 50);
    return Dequantized(weights, Scales(shape[axis], 1), axis);
  }
  ValueId Bias(int64_t channels, float factor = 1) {
    Tensor bias(DType::kI32, Shape{channels});
    for (int64_t i = 0; i < channels; ++i)
      bias.mutable_view().as<int32_t>()[i] = int32_t(i * 5300 % 20000 - 10000);
    return Dequantized(bias, Scales(channels, 0.0625f * factor), 0);
  }

 private:
  static Tensor Scales(int64_t count, float factor) {
    Tensor scales(DType::kF32, Shape{count});
    for (int64_t i = 0; i < count; ++i)
      scales.mutable_view().as<float>()[i] = factor * (0.001f * float(i + 1));
    return scales;
  }
  ValueId Dequantized(const Tensor& t, const Tensor& scales, int64_t axis) {
    Attributes per_channel;
    per_channel.Set("axis", axis);
    return Op("DequantizeLinear", {graph.AddConstant(Name(), t), graph.AddConstant(Name(), scales)},
              per_channel);
  }
  ValueId Zero(DType type) {
    Tensor zero(type, Shape{});
    *static_cast<uint8_t*>(zero.mutable_view().data) = 3;
    return graph.AddConstant(Name(), zero);
  }
};

const Node* Find(const Graph& graph, const std::string& op) {
  for (const Node& n : graph.nodes)
    if (n.op == op) return &n;
  return nullptr;
}

// Runs the pass between two foldings, as RunPasses does, and compares the outputs with those of the graph in
// floats. A value on a rounding boundary may differ by one step of 1/16.
void ExpectSameToAStep(Graph& graph, bool (*pass)(Graph&) = FuseQuantized) {
  FoldConstants(graph, {.keep_dequantized = true});
  Settle(graph);
  const Tensor before = Evaluate(graph)[0];
  EXPECT_TRUE(pass(graph));
  FoldConstants(graph);
  Settle(graph);
  const Tensor after = Evaluate(graph)[0];
  int64_t different = 0;
  for (int64_t i = 0; i < before.elements(); ++i) {
    const float step = std::abs(before.as<float>()[i] - after.as<float>()[i]);
    ASSERT_LE(step, 0.0625f) << i;
    different += step != 0;
  }
  EXPECT_LE(different, before.elements() / 50);
}

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

TEST(FuseQuantized, KeepsAClipThatCutsLevels) {
  QuantizedBuilder b;
  ValueId x = b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7})));
  x = b.Op("Clip", {b.Conv(x, 5, 9, 3), b.Scalar(0), b.Scalar(4)});
  Graph& g = b.Output(b.Dequantize(b.Quantize(x)));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "Conv"), 1);
  EXPECT_EQ(CountOf(g, "Clip"), 1);
  EXPECT_EQ(CountOf(g, "QLinearConv"), 0);
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
    EXPECT_EQ(CountOf(g, "QLinearConv"), saturates);
    EXPECT_EQ(CountOf(g, "Relu"), !saturates);
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
    ExpectSame(g, ToNhwc);
    ExpectSame(g, CancelTransposes);
    EXPECT_EQ(CountOf(g, "Transpose"), 0);
  }
}

TEST(FuseQuantized, LeavesOtherNetworksAlone) {
  Builder b;
  Graph& g = b.Output(b.Conv(b.Input({1, 3, 5, 5}), 3, 4, 3));
  FoldConstants(g);
  EXPECT_FALSE(FuseQuantized(g));
}

}  // namespace
}  // namespace mete
