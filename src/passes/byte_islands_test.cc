// Tests of what stays in bytes between a QuantizeLinear and a DequantizeLinear besides products.
#include <functional>
#include <map>

#include "passes/quantized_testing.h"

namespace mete {
namespace {

Attributes With(const char* name, Attribute value) {
  Attributes attributes;
  attributes.Set(name, std::move(value));
  return attributes;
}

int Conversions(const Graph& g) { return CountOf(g, "QuantizeLinear") + CountOf(g, "DequantizeLinear"); }

TEST(MoveDequantize, MovesBehindWhatMovesElements) {
  QuantizedBuilder b;
  ValueId x = b.Rounded(b.Input({1, 8, 6, 6}));
  x = b.Op("MaxPool", {x}, With("kernel_shape", Ints{2, 2}));
  x = b.Op("Transpose", {x}, With("perm", Ints{0, 2, 3, 1}));
  x = b.Op("Reshape", {x, b.Ints({5, 40})});
  const ValueId y = b.Op("Flatten", {x});
  Graph& g = b.Output(y);
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(Conversions(g), 2);
  for (const char* op : {"MaxPool", "Transpose", "Reshape", "Flatten"}) {
    ASSERT_TRUE(Find(g, op)) << op;
    EXPECT_EQ(g.value(Find(g, op)->outputs[0]).type, DType::kI8) << op;
  }
}

// Each operator behind which a DequantizeLinear moves takes bytes and has a kernel for them.
TEST(MoveDequantize, EachOperatorMovesBytes) {
  using Make = std::function<ValueId(QuantizedBuilder&, ValueId)>;
  const auto with_ints = [](const char* op, Ints ints) {
    return [=](QuantizedBuilder& b, ValueId x) { return b.Op(op, {x, b.Ints(ints)}); };
  };
  const std::map<std::string, Make> operators{
      {"DepthToSpace",
       [](auto& b, ValueId x) { return b.Op("DepthToSpace", {x}, With("blocksize", int64_t{2})); }},
      {"SpaceToDepth",
       [](auto& b, ValueId x) { return b.Op("SpaceToDepth", {x}, With("blocksize", int64_t{2})); }},
      {"Expand", with_ints("Expand", {3, 4, 6, 6})},
      {"Tile", with_ints("Tile", {2, 1, 1, 3})},
      {"Gather", with_ints("Gather", {0, 0})},
      {"Slice",
       [](auto& b, ValueId x) {
         return b.Op("Slice", {x, b.Ints({1}), b.Ints({3}), b.Ints({1})});
       }},
      {"Squeeze", with_ints("Squeeze", {0})},
      {"Unsqueeze", with_ints("Unsqueeze", {0})},
      {"Identity", [](auto& b, ValueId x) { return b.Op("Identity", {x}); }},
      {"Resize",
       [](auto& b, ValueId x) {
         return b.Op("Resize", {x, kNoValue, b.Floats({1, 1, 2, 2})});
       }},
  };
  for (const auto& [op, make] : operators) {
    SCOPED_TRACE(op);
    QuantizedBuilder b;
    Graph& g = b.Output(make(b, b.Rounded(b.Input({1, 4, 6, 6}))));
    ExpectSame(g, FuseQuantized);
    ASSERT_TRUE(Find(g, op));
    EXPECT_EQ(g.value(Find(g, op)->outputs[0]).type, DType::kI8);
  }
}

TEST(MoveDequantize, EmbeddingsOfBytesStayBytesAndWeightsStayBehindTheirDequantize) {
  QuantizedBuilder b;
  Tensor bytes(DType::kI8, Shape{20, 4});
  for (int i = 0; i < 80; ++i) bytes.mutable_view().as<int8_t>()[i] = int8_t(i * 9 - 50);
  const ValueId table = b.Dequantize(b.graph.AddConstant("table", bytes)),
                rows = b.graph.AddValue("rows", DType::kI64, Shape{3});
  b.graph.inputs.push_back(rows);
  const ValueId weights = b.Op("Transpose", {b.Dequantize(b.graph.AddConstant("weights", bytes))});
  b.Output(b.Op("Gather", {table, rows}));
  Graph& g = b.Output(b.Op("MatMul", {b.Input({2, 4}), weights}));
  FoldConstants(g, {.keep_dequantized = true});
  Settle(g);
  FuseQuantized(g);
  Settle(g);
  EXPECT_TRUE(g.value(Find(g, "Gather")->inputs[0]).is_constant());
  EXPECT_EQ(g.value(Find(g, "Gather")->outputs[0]).type, DType::kI8);
  EXPECT_EQ(g.value(Find(g, "Transpose")->outputs[0]).type, DType::kF32);
}

TEST(MoveDequantize, EachPartOfASplitIsDequantized) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({1, 8, 3, 3})), one = b.graph.AddValue("one"),
                two = b.graph.AddValue("two");
  b.graph.AddNode("Split", "split", {x, b.Ints({3, 5})}, {one, two}, With("axis", int64_t{1}));
  b.Output(one);
  Graph& g = b.Output(two);
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "DequantizeLinear"), 2);
  EXPECT_EQ(g.value(Find(g, "Split")->outputs[1]).type, DType::kI8);
}

TEST(MoveDequantize, SplitsAndJoinsBytesOfOneScale) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({1, 8, 4, 4}), DType::kU8),
                y = b.Rounded(b.Input({1, 3, 4, 4}), DType::kU8);
  Graph& g = b.Output(b.Op("Concat", {x, y, x}, With("axis", int64_t{1})));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(g.value(Find(g, "Concat")->outputs[0]).type, DType::kU8);
  EXPECT_EQ(CountOf(g, "DequantizeLinear"), 1);
}

TEST(MoveDequantize, ConcatOfUnlikeScalesIsOfBytesThatTablesMake) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({1, 8, 4, 4})), y = b.Rounded(b.Input({1, 3, 4, 4}), DType::kU8, 0.03f);
  Graph& g = b.Output(b.Rounded(b.Op("Concat", {x, y}, With("axis", int64_t{1}))));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(g.value(Find(g, "Concat")->outputs[0]).type, DType::kI8);
  EXPECT_EQ(CountOf(g, "mete.ByteTable"), 1);  // x has the scale of the output
  EXPECT_EQ(CountOf(g, "QuantizeLinear"), 2);
}

TEST(MoveDequantize, LeavesWhatAverages) {
  QuantizedBuilder b;
  const ValueId scales = b.graph.AddConstant("scales", Tensor::Floats({4}, std::vector<float>{1, 1, 2, 2}));
  Graph& g = b.Output(b.Op("Resize", {b.Rounded(b.Input({1, 2, 4, 4})), kNoValue, scales},
                           With("mode", std::string("linear"))));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(g.value(Find(g, "Resize")->outputs[0]).type, DType::kF32);
}

TEST(ByteTables, AChainOfOneTensorIsATable) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({2, 5, 7}));
  const ValueId swish = b.Op("Mul", {x, b.Op("Sigmoid", {x})});
  Graph& g = b.Output(b.Rounded(b.Op("Add", {swish, b.Scalar(0.5f)}), DType::kU8, 0.02f));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "mete.ByteTable"), 1);
  EXPECT_EQ(CountOf(g, "Mul") + CountOf(g, "Sigmoid") + CountOf(g, "Add"), 0);
  EXPECT_EQ(Conversions(g), 2);
}

// As ONNX Runtime's quantizer writes a product with a number.
TEST(ByteTables, AConstantOfOneByteBelongsToTheTable) {
  QuantizedBuilder b;
  Tensor half(DType::kI8, Shape{});
  *half.mutable_view().as<int8_t>() = 40;
  const ValueId factor = b.Dequantize(b.graph.AddConstant("half", half), DType::kI8, 0.013f);
  Graph& g = b.Output(b.Rounded(b.Op("Mul", {b.Rounded(b.Input({3, 4})), factor}), DType::kI8, 0.02f));
  FoldConstants(g, {.keep_dequantized = true});
  Settle(g);
  FuseQuantized(g);
  EXPECT_EQ(CountOf(g, "mete.ByteTable"), 1);
}

// A PRelu of one slope as PyTorch writes it.
TEST(ByteTables, AConstantOfOneElementMayHaveManyDimensions) {
  QuantizedBuilder b;
  const ValueId slope = b.Weight({1, 1, 1}, 0.2f, 0.3f);
  Graph& g = b.Output(b.Rounded(b.Op("PRelu", {b.Rounded(b.Input({1, 5, 3, 3})), slope}), DType::kI8, 0.03f));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "mete.ByteTable"), 1);
}

// The bound is one byte, for which there is no table of 256.
TEST(ByteTables, AnOperandThatMustBeOneElementIsNoSource) {
  QuantizedBuilder b;
  const ValueId bound = b.Rounded(b.Input({}));
  Graph& g = b.Output(b.Rounded(b.Op("Clip", {b.Scalar(0.7f), bound}), DType::kI8, 0.03f));
  FoldConstants(g);
  Settle(g);
  FuseQuantized(g);
  EXPECT_EQ(CountOf(g, "Clip"), 1);
}

TEST(ByteOperators, AScaleInAMatrixOfOneElementStaysInFloats) {
  QuantizedBuilder b;
  const ValueId scale = b.Weight({1, 1}, 0.1f, 0.1f);
  const auto rounded = [&](ValueId x) {
    const ValueId zero = b.graph.AddConstant("zero" + std::to_string(x), Tensor(DType::kU8, Shape{1, 1}));
    Attributes blocks = With("block_size", int64_t{6});
    return b.Op("DequantizeLinear", {b.Op("QuantizeLinear", {x, scale, zero}, blocks), scale, zero}, blocks);
  };
  Graph& g = b.Output(rounded(b.Op("Add", {rounded(b.Input({1, 6})), rounded(b.Input({1, 6}))})));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "Add"), 1);
}

TEST(ByteTables, ARoundingInsideOfTheChainBelongsToTheTable) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({2, 5, 7}));
  const ValueId gate = b.Rounded(b.Op("Sigmoid", {x}), DType::kU8, 1 / 255.f);
  Graph& g = b.Output(b.Rounded(b.Op("Mul", {x, gate}), DType::kI8, 0.03f));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "mete.ByteTable"), 1);
  EXPECT_EQ(CountOf(g, "mete.QLinearMul"), 0);
}

TEST(ByteTables, ARoundingToTheSameLevelsGoes) {
  QuantizedBuilder b;
  Graph& g = b.Output(b.Rounded(b.Rounded(b.Input({3, 4}))));
  ExpectSame(g, FuseQuantized);
  ExpectSame(g, Simplify);
  EXPECT_EQ(Conversions(g), 2);
  EXPECT_EQ(CountOf(g, "mete.ByteTable"), 0);
}

TEST(ByteTables, AConstantTensorOfBytesIsNoScalar) {
  QuantizedBuilder b;
  Tensor bytes(DType::kI8, Shape{3, 4});
  for (int i = 0; i < 12; ++i) bytes.mutable_view().as<int8_t>()[i] = int8_t(i * 9 - 50);
  const ValueId weights = b.Dequantize(b.graph.AddConstant("weights", bytes));
  Graph& g = b.Output(b.Rounded(b.Op("Add", {b.Rounded(b.Input({3, 4})), weights})));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "mete.QLinearAdd"), 1);
}

TEST(ByteTables, TwoTensorsAreNoTable) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({3, 4})), y = b.Rounded(b.Input({3, 4}));
  Graph& g = b.Output(b.Rounded(b.Op("Sub", {x, y})));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "Sub"), 1);
  EXPECT_EQ(Conversions(g), 6);
}

TEST(ByteOperators, SumsAndProductsOfTensorsOfDifferentScales) {
  for (const char* op : {"Add", "Mul"}) {
    QuantizedBuilder b;
    const ValueId x = b.Rounded(b.Input({2, 5, 6, 6})), y = b.Rounded(b.Input({5, 1, 6}), DType::kU8, 0.03f);
    Graph& g = b.Output(b.Rounded(b.Op("Relu", {b.Op(op, {x, y})}), DType::kU8));
    ExpectSameToAStep(g);
    const Node* sum = Find(g, std::string("mete.QLinear") + op);
    ASSERT_TRUE(sum);
    EXPECT_EQ(sum->attributes.IntList(kLevels), Ints({3, 255}));
    EXPECT_EQ(Conversions(g), 3);
  }
}

TEST(ByteOperators, ProductsOfTwoComputedMatrices) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({2, 5, 8})), y = b.Rounded(b.Input({2, 8, 6}), DType::kU8, 0.03f);
  Graph& g = b.Output(b.Rounded(b.Op("MatMul", {x, y}), DType::kI8));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "QLinearMatMul"), 1);
}

TEST(ByteOperators, ProductsWithOneMatrixForAllStayInFloats) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({3, 5, 8})), y = b.Rounded(b.Input({1, 8, 6}));
  Graph& g = b.Output(b.Rounded(b.Op("MatMul", {x, y})));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "MatMul"), 1);
}

TEST(ByteOperators, Averages) {
  for (const char* op : {"AveragePool", "GlobalAveragePool"}) {
    QuantizedBuilder b;
    Attributes pool = With("kernel_shape", Ints{3, 3});
    pool.Set("pads", Ints{1, 1, 1, 1});
    if (op[0] == 'G') pool = {};
    Graph& g = b.Output(b.Rounded(b.Op(op, {b.Rounded(b.Input({2, 5, 6, 6}), DType::kU8, 0.03f)}, pool)));
    ExpectSameToAStep(g);
    EXPECT_EQ(CountOf(g, std::string("mete.QLinear") + op), 1);
    EXPECT_EQ(Conversions(g), 2);
  }
}

TEST(ByteOperators, StayInNhwcBetweenConvolutions) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Conv(b.Rounded(b.Input({1, 5, 6, 7})), 5, 9, 3));
  ValueId y = b.Rounded(b.Op("Add", {x, b.Rounded(b.Conv(x, 9, 9, 1))}));
  y = b.Rounded(b.Op("Mul", {y, b.Rounded(b.Op("GlobalAveragePool", {y}))}));
  y = b.Op("MaxPool", {y}, With("kernel_shape", Ints{2, 2}));
  y = b.Rounded(b.Op("AveragePool", {y}, With("kernel_shape", Ints{2, 2})));
  Graph& g = b.Output(b.Rounded(b.Conv(y, 9, 4, 1)));
  FoldConstants(g, {.keep_dequantized = true});
  Settle(g);
  FuseQuantized(g);
  ExpectSame(g, ToNhwc);
  EXPECT_EQ(CountOf(g, "Transpose"), 2);
  EXPECT_EQ(Conversions(g), 2);
}

// As ONNX Runtime's quantizer writes a layer: the scale is that of the input times that of the weights.
TEST(FuseScaledSums, ADynamicallyQuantizedProductIsOneOperator) {
  for (const bool with_bias : {false, true}) {
    QuantizedBuilder b;
    const ValueId x = b.Input({5, 24});
    std::vector<ValueId> made;
    for (const char* name : {"bytes", "scale", "zero"}) made.push_back(b.graph.AddValue(name));
    b.graph.AddNode("DynamicQuantizeLinear", "dynamic", {x}, made);
    Tensor weights(DType::kI8, Shape{24, 9});
    for (int i = 0; i < 24 * 9; ++i) weights.mutable_view().as<int8_t>()[i] = int8_t(i * 37 % 101 - 50);
    const ValueId sums = b.Op("MatMulInteger", {made[0], b.graph.AddConstant("w", weights), made[2]});
    const ValueId scales = b.Op("Mul", {made[1], b.Weight({9}, 0.01f, 0.02f)});
    ValueId y = b.Op("Mul", {b.Op("Cast", {sums}, With("to", std::string("f32"))), scales});
    if (with_bias) y = b.Op("Add", {b.Weight({9}), y});
    Graph& g = b.Output(y);
    ExpectSame(g, FuseQuantized);
    EXPECT_EQ(CountOf(g, "mete.ScaledMatMulInteger"), 1);
    EXPECT_EQ(CountOf(g, "Cast") + CountOf(g, "MatMulInteger") + CountOf(g, "Add"), 0);
    EXPECT_EQ(CountOf(g, "Mul"), 1);
  }
}

TEST(FuseScaledSums, SumsThatAreReadStay) {
  QuantizedBuilder b;
  std::vector<ValueId> made;
  for (const char* name : {"bytes", "scale", "zero"}) made.push_back(b.graph.AddValue(name));
  b.graph.AddNode("DynamicQuantizeLinear", "dynamic", {b.Input({5, 4})}, made);
  const ValueId w = b.graph.AddConstant("w", Tensor(DType::kI8, Shape{4, 3}));
  const ValueId floats =
      b.Op("Cast", {b.Op("MatMulInteger", {made[0], w, made[2]})}, With("to", std::string("f32")));
  b.Output(b.Op("Mul", {floats, made[1]}));
  Graph& g = b.Output(b.Op("Neg", {floats}));
  FoldConstants(g);
  Settle(g);
  FuseQuantized(g);
  EXPECT_EQ(CountOf(g, "MatMulInteger"), 1);
}

TEST(FuseEpilogues, AConvolutionOfBytesTakesTheTableBehindIt) {
  QuantizedBuilder b;
  ValueId x = b.Rounded(b.Conv(b.Rounded(b.Input({1, 5, 6, 7})), 5, 9, 3));
  x = b.Rounded(b.Op("Sigmoid", {x}), DType::kU8, 1 / 255.f);
  Graph& g = b.Output(x);
  ExpectSameToAStep(g);
  ExpectSame(g, FuseEpilogues);
  EXPECT_EQ(CountOf(g, "mete.ByteTable"), 0);
  EXPECT_EQ(g.value(Find(g, "QLinearConv")->outputs[0]).type, DType::kU8);
}

TEST(ConcatInPlace, ConvolutionsOfBytesWriteTheirSlices) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({2, 5, 6, 7}));
  const ValueId one = b.Rounded(b.Conv(x, 5, 9, 1)), two = b.Rounded(b.Conv(x, 5, 4, 1), DType::kU8, 0.03f);
  Graph& g = b.Output(b.Rounded(b.Op("Concat", {one, two}, With("axis", int64_t{1}))));
  ExpectSameToAStep(g);
  ExpectSame(g, Simplify);  // the first convolution has the scale of the output
  ExpectSame(g, ToNhwc);
  ExpectSame(g, FuseEpilogues);
  ExpectSame(g, ConcatInPlace);
  EXPECT_EQ(CountOf(g, "Concat") + CountOf(g, "mete.ByteTable"), 0);
  EXPECT_EQ(CountOf(g, "QLinearConv"), 2);
}

TEST(ByteOperators, ATensorInFloatsStaysSo) {
  QuantizedBuilder b;
  const ValueId x = b.Rounded(b.Input({2, 5})), y = b.Input({2, 5});
  Graph& g = b.Output(b.Rounded(b.Op("Add", {x, y})));
  ExpectSame(g, FuseQuantized);
  EXPECT_EQ(CountOf(g, "Add"), 1);
}

TEST(ByteTables, TheFirstInputAloneChangesItsOrder) {
  QuantizedBuilder b;
  ValueId x = b.Rounded(b.Conv(b.Rounded(b.Input({1, 5, 6, 7})), 5, 9, 3));
  x = b.Rounded(b.Op("Sigmoid", {x}), DType::kU8, 1 / 255.f);
  Graph& g = b.Output(x);
  ExpectSameToAStep(g);
  ExpectSame(g, ToNhwc);
  const Node* table = Find(g, "mete.ByteTable");
  ASSERT_TRUE(table);
  EXPECT_EQ(g.value(table->inputs[1]).shape, Shape{256});
  EXPECT_EQ(g.value(table->outputs[0]).layout, Layout::kNhwc);
}

}  // namespace
}  // namespace mete
