#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using std::string;

Tensor I8(const Shape& shape, const std::vector<int8_t>& values) {
  return MakeTensor(DType::kI8, shape, values);
}

TEST(QuantizeLinear, RoundsHalfToEvenAndSaturates) {
  const Tensor x = F({6}, {1, 3, -1, 1000, -1000, std::nanf("")});
  EXPECT_EQ(RunFor<uint8_t>("QuantizeLinear", {}, {x, F({}, {2}), U8({}, {10})}),
            (std::vector<uint8_t>{10, 12, 10, 255, 0, 0}));
  EXPECT_EQ(RunFor<int8_t>("QuantizeLinear", Attrs({{"output_dtype", string("i8")}}), {x, F({}, {2})}),
            (std::vector<int8_t>{0, 2, 0, 127, -128, -128}));
}

TEST(QuantizeLinear, ANanBecomesTheLeastLevelWhateverTheZeroPoint) {
  const Tensor x = F({2}, {std::nanf(""), -std::nanf("")}), scale = F({}, {0.5});
  EXPECT_EQ(RunFor<uint8_t>("QuantizeLinear", {}, {x, scale, U8({}, {10})}), (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(RunFor<int8_t>("QuantizeLinear", {}, {x, scale, I8({}, {10})}),
            (std::vector<int8_t>{-128, -128}));
  EXPECT_EQ(RunFor<int16_t>("QuantizeLinear", Attrs({{"output_dtype", string("i16")}}), {x, scale}),
            (std::vector<int16_t>{-32768, -32768}));
}

TEST(QuantizeLinear, ScalesPerAxisAndPerBlock) {
  const Tensor x = F({2, 3}, {2, 4, 6, 8, 10, 12});
  EXPECT_EQ(
      RunFor<uint8_t>("QuantizeLinear", Attrs({{"axis", int64_t(0)}}), {x, F({2}, {1, 2}), U8({2}, {0, 1})}),
      (std::vector<uint8_t>{2, 4, 6, 5, 6, 7}));
  EXPECT_EQ(RunFor<uint8_t>("QuantizeLinear", Attrs({{"axis", int64_t(-1)}}), {x, F({3}, {1, 2, 3})}),
            (std::vector<uint8_t>{2, 2, 2, 8, 5, 4}));
  EXPECT_EQ(
      RunFor<uint8_t>("QuantizeLinear", Attrs({{"block_size", int64_t(2)}}), {x, F({2, 2}, {1, 2, 4, 3})}),
      (std::vector<uint8_t>{2, 4, 3, 2, 2, 4}));
}

TEST(QuantizeLinear, NarrowIntegersHaveTheirOwnRange) {
  const Tensor x = F({5}, {-100, -3, 5, 7, 100});
  EXPECT_EQ(RunFor<int8_t>("QuantizeLinear", {}, {x, F({}, {2}), MakeTensor<int8_t>(DType::kI4, {}, {1})}),
            (std::vector<int8_t>{-8, -1, 3, 5, 7}));
  EXPECT_EQ(RunFor<uint8_t>("QuantizeLinear", Attrs({{"output_dtype", string("u2")}}), {x, F({}, {2})}),
            (std::vector<uint8_t>{0, 0, 2, 3, 3}));
}

TEST(QuantizeLinear, NarrowFloatsSaturateUnlessToldNotTo) {
  const Tensor x = F({2, 2}, {2, 1e6f, 3, -1e6f}), zeros(DType::kF8E4M3FN, {2});
  const Attributes axis = Attrs({{"axis", int64_t(1)}});
  EXPECT_EQ(RunFor<uint8_t>("QuantizeLinear", axis, {x, F({2}, {2, 1}), zeros}),
            (std::vector<uint8_t>{0x38, 0x7e, 0x3c, 0xfe}));
  EXPECT_EQ(RunFor<uint8_t>("QuantizeLinear", Attrs({{"axis", int64_t(1)}, {"saturate", int64_t(0)}}),
                            {x, F({2}, {2, 1}), zeros}),
            (std::vector<uint8_t>{0x38, 0x7f, 0x3c, 0xff}));
  EXPECT_THROW(RunOp("QuantizeLinear", Attrs({{"output_dtype", string("f8e8m0")}}), {x, F({}, {1})}), Error);
}

TEST(DequantizeLinear, TakesNarrowTypesAndPowersOfTwoAsScales) {
  const Tensor x = MakeTensor<uint8_t>(DType::kF4E2M1, {4}, {2, 7, 15, 1});   // 1, 6, -6, 0.5
  const Tensor scale = MakeTensor<uint8_t>(DType::kF8E8M0, {2}, {128, 126});  // 2, 0.5
  EXPECT_EQ(RunFor<float>(
                "DequantizeLinear",
                Attrs({{"axis", int64_t(0)}, {"block_size", int64_t(2)}, {"output_dtype", string("f32")}}),
                {x, scale}),
            (std::vector<float>{2, 12, -3, 0.25f}));
  EXPECT_THROW(
      RunOp("DequantizeLinear", Attrs({{"axis", int64_t(0)}, {"block_size", int64_t(2)}}), {x, scale}),
      Error);
  EXPECT_EQ(RunFor<float>("DequantizeLinear", Attrs({{"axis", int64_t(0)}}),
                          {MakeTensor<uint8_t>(DType::kI2, {2}, {0xfe, 1}), F({2}, {3, 1}),
                           MakeTensor<uint8_t>(DType::kI2, {2}, {1, 0xff})}),
            (std::vector<float>{-9, 2}));
}

TEST(DequantizeLinear, TakesTheZeroPointOffAndScales) {
  EXPECT_EQ(RunFor<float>("DequantizeLinear", {}, {U8({3}, {0, 128, 255}), F({}, {2}), U8({}, {128})}),
            (std::vector<float>{-256, 0, 254}));
  EXPECT_EQ(RunFor<float>("DequantizeLinear", Attrs({{"axis", int64_t(0)}, {"block_size", int64_t(2)}}),
                          {I8({3, 1}, {1, 2, 3}), F({2, 1}, {10, 100})}),
            (std::vector<float>{10, 20, 300}));
  EXPECT_EQ(RunFor<float>("DequantizeLinear", {}, {I32({1}, {-7}), F({}, {0.5})}),
            (std::vector<float>{-3.5}));
}

TEST(DynamicQuantizeLinear, RangeHoldsZeroAndConstantsDoNotDivideByZero) {
  const auto out = RunOp("DynamicQuantizeLinear", {}, {F({3}, {0, 2, -3})}, 3);
  EXPECT_FLOAT_EQ(*out[1].as<float>(), 5.f / 255);
  EXPECT_EQ(*out[2].as<uint8_t>(), 153);
  EXPECT_EQ(out[0].as<uint8_t>()[2], 0);
  EXPECT_EQ(*RunOp("DynamicQuantizeLinear", {}, {F({1}, {0})}, 3)[2].as<uint8_t>(), 0);
}

TEST(MatMulInteger, ZeroPointsPerRowAndColumn) {
  const Tensor a = U8({2, 2}, {1, 2, 3, 4}), b = I8({2, 2}, {1, -1, 2, 0});
  EXPECT_EQ(RunFor<int32_t>("MatMulInteger", {}, {a, b}), (std::vector<int32_t>{5, -1, 11, -3}));
  // The rows minus {1, 2} are {0 1; 1 2}; the columns minus {1, -1} are {0 0; 1 1}.
  EXPECT_EQ(RunFor<int32_t>("MatMulInteger", {}, {a, b, U8({2}, {1, 2}), I8({2}, {1, -1})}),
            (std::vector<int32_t>{1, 1, 2, 2}));
  EXPECT_EQ(RunFor<int32_t>("MatMulInteger", {}, {U8({2}, {1, 2}), b}), (std::vector<int32_t>{5, -1}));
}

TEST(ConvInteger, PaddingIsTheZeroPoint) {
  const Attributes pads = Attrs({{"pads", Ints{1, 0}}});
  EXPECT_EQ(
      RunFor<int32_t>("ConvInteger", pads, {U8({1, 1, 3}, {5, 6, 7}), U8({1, 1, 2}, {1, 2}), U8({}, {4})}),
      (std::vector<int32_t>{2, 5, 8}));
}

// The test compares quantized products with the same products in floats.
TEST(QLinearConv, EqualsTheDequantizedConvRounded) {
  std::mt19937 engine(5);
  auto bytes = [&](const Shape& shape) {
    std::vector<uint8_t> v(size_t(shape.Elements()));
    for (uint8_t& b : v) b = uint8_t(engine() & 255);
    return U8(shape, v);
  };
  const Tensor x = bytes({2, 4, 5, 5}), w = bytes({6, 2, 3, 3}), x_scale = F({}, {0.5f}),
               y_scale = F({}, {64});
  const Tensor w_scale = F({6}, {1, 2, 0.5f, 1, 0.25f, 1});
  const Tensor x_zero = U8({}, {100}), w_zero = U8({6}, {120, 130, 128, 0, 255, 7}), y_zero = U8({}, {90});
  const Tensor bias = I32({6}, {0, 1000, -1000, 5, 6, 7});
  const Attributes a = Attrs({{"group", int64_t(2)}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}});
  const auto got =
      RunFor<uint8_t>("QLinearConv", a, {x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias});

  const Attributes axis = Attrs({{"axis", int64_t(0)}});
  const Tensor xf = RunOp("DequantizeLinear", {}, {x, x_scale, x_zero})[0],
               wf = RunOp("DequantizeLinear", axis, {w, w_scale, w_zero})[0];
  std::vector<float> bias_scales;
  for (int i = 0; i < 6; ++i) bias_scales.push_back(0.5f * w_scale.as<float>()[i]);
  const Tensor bf = RunOp("DequantizeLinear", axis, {bias, F({6}, bias_scales)})[0];
  EXPECT_EQ(got, RunFor<uint8_t>("QuantizeLinear", {}, {RunOp("Conv", a, {xf, wf, bf})[0], y_scale, y_zero}));
}

TEST(QLinearMatMul, BroadcastsBatches) {
  const Tensor a = U8({2, 1, 2}, {1, 2, 3, 4}), b = U8({2, 1}, {10, 20}), one = F({}, {1}),
               zero = U8({}, {0});
  EXPECT_EQ(RunFor<uint8_t>("QLinearMatMul", {}, {a, one, zero, b, F({}, {0.5f}), zero, one, U8({}, {3})}),
            (std::vector<uint8_t>{28, 58}));
}

string Infer(const string& op, const Attributes& a, const std::vector<TestInput>& inputs) {
  return InferText(op, a, inputs);
}

TEST(QuantizedInfer, BadScalesAndTypesAreNamed) {
  const Shape x{2, 5};
  EXPECT_NE(Infer("QuantizeLinear", {}, {x, Shape{2}}).find("wrong shape"), string::npos);
  EXPECT_NE(
      Infer("QuantizeLinear", Attrs({{"block_size", int64_t(2)}}), {x, Shape{2, 2}}).find("wrong shape"),
      string::npos);
  EXPECT_NE(Infer("QuantizeLinear", Attrs({{"output_dtype", string("i5")}}), {x, Shape{}})
                .find("output_dtype is unknown"),
            string::npos);
  EXPECT_NE(
      Infer("QuantizeLinear", Attrs({{"axis", int64_t(2)}}), {x, Shape{5}}).find("axis is out of range"),
      string::npos);
  EXPECT_NE(Infer("DequantizeLinear", {}, {TestInput(DType::kI64, {2, 5}), Shape{}}).find("type"),
            string::npos);
  EXPECT_NE(Infer("MatMulInteger", {}, {TestInput(DType::kU8, {2, 3}), TestInput(DType::kU8, {2, 3})})
                .find("inner dimensions differ"),
            string::npos);
  EXPECT_EQ(
      Infer("MatMulInteger", {}, {TestInput(DType::kU8, {4, 1, 2, 3}), TestInput(DType::kI8, {5, 3, 7})}),
      "i32 4x5x2x7");
}

TEST(ByteTable, LooksBytesUpAsUnsignedNumbers) {
  Tensor table(DType::kI8, Shape{256});
  for (int i = 0; i < 256; ++i) table.mutable_view().as<int8_t>()[i] = int8_t(i / 2);
  EXPECT_EQ(RunFor<int8_t>("mete.ByteTable", {}, {U8({3}, {0, 100, 255}), table}),
            (std::vector<int8_t>{0, 50, 127}));
  EXPECT_EQ(RunFor<int8_t>("mete.ByteTable", {}, {I8({3}, {0, -1, -128}), table}),
            (std::vector<int8_t>{0, 127, 64}));
}

// The zero point is added before a sum, a product or an average is rounded: 0.5 + 3 rounds to 4, and 0.5 to
// 0.
TEST(QLinearAdd, RoundsBehindTheZeroPointAndKeepsTheLevels) {
  const std::vector<Tensor> in{U8({4}, {12, 11, 0, 255}),
                               F({}, {0.5}),
                               U8({}, {10}),
                               U8({1}, {20}),
                               F({}, {1}),
                               U8({}, {20}),
                               F({}, {1}),
                               U8({}, {3})};
  EXPECT_EQ(RunFor<uint8_t>("mete.QLinearAdd", {}, in), (std::vector<uint8_t>{4, 4, 0, 126}));
  EXPECT_EQ(RunFor<uint8_t>("mete.QLinearAdd", Attrs({{"levels", Ints{3, 100}}}), in),
            (std::vector<uint8_t>{4, 4, 3, 100}));
}

TEST(QLinearMul, RoundsBehindTheZeroPoint) {
  EXPECT_EQ(RunFor<int8_t>("mete.QLinearMul", {},
                           {I8({3}, {1, -1, 100}), F({}, {0.5}), I8({}, {0}), I8({}, {3}), F({}, {1}),
                            I8({}, {2}), F({}, {1}), I8({}, {3})}),
            (std::vector<int8_t>{4, 2, 53}));
}

TEST(QLinearAveragePool, RoundsBehindTheZeroPointAndTheAverageOfImagesBeforeIt) {
  const std::vector<Tensor> in{U8({1, 1, 1, 2}, {11, 10}), F({}, {1}), U8({}, {10}), F({}, {1}), U8({}, {3})};
  EXPECT_EQ(RunFor<uint8_t>("mete.QLinearAveragePool", Attrs({{"kernel_shape", Ints{1, 2}}}), in),
            (std::vector<uint8_t>{4}));
  EXPECT_EQ(RunFor<uint8_t>("mete.QLinearGlobalAveragePool", {}, in), (std::vector<uint8_t>{3}));
}

}  // namespace
}  // namespace mete
