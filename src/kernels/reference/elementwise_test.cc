#include <gtest/gtest.h>

#include "kernels/reference/number.h"
#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

const std::vector<float> kSome{-3, -1, -0.5f, 0, 0.5f, 1, 3};

void ExpectMap(const std::string& op, const Attributes& attributes, const std::vector<float>& expected) {
  ExpectNear(RunFor<float>(op, attributes, {F({7}, kSome)}), expected, 1e-6, op);
}

TEST(Activations, MatchHandComputedValues) {
  ExpectMap("Relu", {}, {0, 0, 0, 0, 0.5f, 1, 3});
  ExpectMap("LeakyRelu", Attrs({{"alpha", 0.1f}}), {-0.3f, -0.1f, -0.05f, 0, 0.5f, 1, 3});
  ExpectMap("Sigmoid", {},
            {0.0474258732f, 0.2689414214f, 0.3775406688f, 0.5f, 0.6224593312f, 0.7310585786f, 0.9525741268f});
  ExpectMap("HardSigmoid", {}, {0, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 1});
  ExpectMap("HardSwish", {}, {0, -1 / 3.f, -0.2083333333f, 0, 0.2916666667f, 2 / 3.f, 3});
  ExpectMap("Elu", Attrs({{"alpha", 2.f}}), {-1.900425863f, -1.264241118f, -0.786938681f, 0, 0.5f, 1, 3});
  ExpectMap("Celu", Attrs({{"alpha", 2.f}}), {-1.553739680f, -0.786938681f, -0.442398434f, 0, 0.5f, 1, 3});
  ExpectMap("Selu", {},
            {-1.670568728f, -1.111330738f, -0.691758188f, 0, 0.525350511f, 1.050700987f, 3.152102961f});
  ExpectMap("Gelu", {},
            {-0.004049694f, -0.158655254f, -0.154268770f, 0, 0.345731230f, 0.841344746f, 2.995950306f});
  ExpectMap("Gelu", Attrs({{"approximate", std::string("tanh")}}),
            {-0.003637392f, -0.158808010f, -0.154285988f, 0, 0.345714012f, 0.841191990f, 2.996362608f});
  ExpectMap(
      "Softplus", {},
      {0.048587352f, 0.313261688f, 0.474076984f, 0.693147181f, 0.974076984f, 1.313261688f, 3.048587352f});
  ExpectMap("Softsign", {}, {-0.75f, -0.5f, -1 / 3.f, 0, 1 / 3.f, 0.5f, 0.75f});
  ExpectMap("Mish", {},
            {-0.145647461f, -0.303401461f, -0.220743761f, 0, 0.375246205f, 0.865098388f, 2.986535004f});
  ExpectMap("ThresholdedRelu", {}, {0, 0, 0, 0, 0, 0, 3});
  ExpectMap("Swish", Attrs({{"alpha", 2.f}}),
            {-0.007417869f, -0.119202922f, -0.134470711f, 0, 0.365529289f, 0.880797078f, 2.992582131f});
  ExpectMap("Shrink", Attrs({{"lambd", 0.75f}, {"bias", 0.5f}}), {-2.5f, -0.5f, 0, 0, 0, 0.5f, 2.5f});
  ExpectMap("mete.Power", Attrs({{"power", 2.f}, {"scale", 2.f}, {"shift", 1.f}}), {25, 1, 0, 1, 4, 9, 49});
}

TEST(Activations, LargeInputsStayFinite) {
  for (const char* op : {"Softplus", "Mish", "Swish", "Gelu", "Elu", "Sigmoid", "Softsign"})
    for (float y : RunFor<float>(op, {}, {F({2}, {-1000, 1000})})) EXPECT_TRUE(std::isfinite(y)) << op;
}

TEST(Clip, LeftOutBoundsDoNotBind) {
  EXPECT_EQ(RunFor<float>("Clip", {}, {F({3}, {-2, 0, 2}), {}, F({}, {1})}), (std::vector<float>{-2, 0, 1}));
  EXPECT_EQ(RunFor<int8_t>(
                "Clip", {},
                {MakeTensor<int8_t>(DType::kI8, {3}, {-2, 0, 2}), MakeTensor<int8_t>(DType::kI8, {}, {-1})}),
            (std::vector<int8_t>{-1, 0, 2}));
}

TEST(Clip, MaximumWinsOverAGreaterMinimum) {
  EXPECT_EQ(RunFor<float>("Clip", {}, {F({3}, {-2, 0, 6}), F({}, {2}), F({}, {1})}),
            (std::vector<float>{1, 1, 1}));
}

TEST(Unary, RoundsHalvesToEven) {
  EXPECT_EQ(RunFor<float>("Round", {}, {F({6}, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -4.5f})}),
            (std::vector<float>{0, 2, 2, 0, -2, -4}));
}

TEST(Unary, IntegersAtTheirLimitsWrap) {
  const Tensor x = I32({2}, {INT32_MIN, -7});
  EXPECT_EQ(RunFor<int32_t>("Abs", {}, {x}), (std::vector<int32_t>{INT32_MIN, 7}));
  EXPECT_EQ(RunFor<int32_t>("Neg", {}, {x}), (std::vector<int32_t>{INT32_MIN, 7}));
  EXPECT_EQ(RunFor<int32_t>("Sign", {}, {x}), (std::vector<int32_t>{-1, -1}));
}

TEST(Unary, PredicatesSeeInfinityAndNan) {
  const Tensor x = F({4}, {INFINITY, -INFINITY, NAN, 1});
  EXPECT_EQ(RunFor<uint8_t>("IsNaN", {}, {x}), (std::vector<uint8_t>{0, 0, 1, 0}));
  EXPECT_EQ(RunFor<uint8_t>("IsInf", {}, {x}), (std::vector<uint8_t>{1, 1, 0, 0}));
  EXPECT_EQ(RunFor<uint8_t>("IsInf", Attrs({{"detect_positive", int64_t(0)}}), {x}),
            (std::vector<uint8_t>{0, 1, 0, 0}));
}

TEST(Unary, HalvesAreComputedInFloat) {
  const F16 two(2.f);
  EXPECT_EQ(RunFor<uint16_t>("Sqrt", {}, {MakeTensor<uint16_t>(DType::kF16, {1}, {two.bits})})[0],
            F16(std::sqrt(2.f)).bits);
}

TEST(Binary, BroadcastsBothWays) {
  EXPECT_EQ(RunFor<float>("Sub", {}, {F({2, 1}, {10, 20}), F({3}, {1, 2, 3})}),
            (std::vector<float>{9, 8, 7, 19, 18, 17}));
  EXPECT_EQ(RunFor<float>("Add", {}, {F({}, {1}), F({}, {2})}), (std::vector<float>{3}));
  EXPECT_TRUE(RunFor<float>("Add", {}, {F({0, 2}, {}), F({2}, {1, 2})}).empty());
}

TEST(Binary, IntegerDivisionTruncatesAndRefusesZero) {
  EXPECT_EQ(RunFor<int32_t>("Div", {}, {I32({3}, {-7, 7, INT32_MIN}), I32({3}, {2, -2, -1})}),
            (std::vector<int32_t>{-3, -3, INT32_MIN}));
  EXPECT_THROW(RunFor<int32_t>("Div", {}, {I32({1}, {1}), I32({1}, {0})}), Error);
  EXPECT_THROW(RunFor<int32_t>("Mod", {}, {I32({1}, {1}), I32({1}, {0})}), Error);
}

TEST(Mod, FollowsTheDivisorsSignUnlessFmod) {
  const Tensor a = I64({6}, {-4, 7, 5, 4, -7, INT64_MIN}), b = I64({6}, {2, -3, 8, -2, 3, -1});
  EXPECT_EQ(RunFor<int64_t>("Mod", {}, {a, b}), (std::vector<int64_t>{0, -2, 5, 0, 2, 0}));
  EXPECT_EQ(RunFor<int64_t>("Mod", Attrs({{"fmod", int64_t(1)}}), {a, b}),
            (std::vector<int64_t>{0, 1, 5, 0, -1, 0}));
  EXPECT_EQ(RunFor<float>("Mod", {}, {F({3}, {-4.5f, 4.5f, 5}), F({3}, {2, -2, INFINITY})}),
            (std::vector<float>{1.5f, -1.5f, 5}));
}

TEST(Pow, KeepsTheTypeOfItsBase) {
  EXPECT_EQ(RunFor<int32_t>("Pow", {}, {I32({3}, {1, 2, 3}), F({3}, {4, 5.5f, 40})}),
            (std::vector<int32_t>{1, 45, INT32_MAX}));
  EXPECT_EQ(RunFor<float>("Pow", {}, {F({3}, {1, 2, 3}), I64({3}, {4, 5, -1})}),
            (std::vector<float>{1, 32, 1 / 3.f}));
  EXPECT_EQ(RunFor<int64_t>("Pow", {}, {I64({4}, {3, -2, -1, 7}), I64({4}, {4, 3, -3, -1})}),
            (std::vector<int64_t>{81, -8, -1, 0}));
  EXPECT_EQ(RunFor<float>("Pow", {}, {F({2}, {2, 9}), F({}, {0.5f})}),
            (std::vector<float>{std::sqrt(2.f), 3}));
}

TEST(Variadic, MinAndMaxPassNansOn) {
  const auto y = RunFor<float>("Max", {}, {F({2}, {NAN, 1}), F({2}, {0, NAN}), F({}, {5})});
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(RunFor<int32_t>("Min", {}, {I32({2}, {3, 1}), I32({}, {2})}), (std::vector<int32_t>{2, 1}));
  EXPECT_EQ(RunFor<float>("Mean", {}, {F({2}, {3, 1}), F({}, {2}), F({1}, {1})}),
            (std::vector<float>{2, 4 / 3.f}));
  EXPECT_EQ(RunFor<float>("Sum", {}, {F({2}, {3, 1})}), (std::vector<float>{3, 1}));
}

TEST(BitShift, AmountsBeyondTheWidthLeaveOnlyTheSign) {
  const Tensor x = MakeTensor<int8_t>(DType::kI8, {4}, {-16, 16, -1, 64}),
               by = MakeTensor<int8_t>(DType::kI8, {4}, {2, 2, 8, -1});
  EXPECT_EQ(RunFor<int8_t>("BitShift", Attrs({{"direction", std::string("RIGHT")}}), {x, by}),
            (std::vector<int8_t>{-4, 4, -1, 0}));
  EXPECT_EQ(RunFor<int8_t>("BitShift", Attrs({{"direction", std::string("LEFT")}}), {x, by}),
            (std::vector<int8_t>{-64, 64, 0, 0}));
  EXPECT_EQ(RunFor<uint8_t>("BitwiseXor", {}, {U8({2}, {5, 255}), U8({}, {1})}),
            (std::vector<uint8_t>{4, 254}));
}

TEST(Logic, ComparesAndCombines) {
  EXPECT_EQ(RunFor<uint8_t>("Equal", {}, {Bools({2}, {2, 0}), Bools({2}, {1, 1})}),
            (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(RunFor<uint8_t>("GreaterOrEqual", {}, {F({3}, {1, 2, NAN}), F({}, {2})}),
            (std::vector<uint8_t>{0, 1, 0}));
  EXPECT_EQ(RunFor<uint8_t>("Xor", {}, {Bools({2}, {1, 0}), Bools({2}, {1, 1})}),
            (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(RunFor<int64_t>("Where", {}, {Bools({2, 1}, {1, 0}), I64({2}, {1, 2}), I64({}, {9})}),
            (std::vector<int64_t>{1, 2, 9, 9}));
}

TEST(Cast, IsDefinedForEveryValue) {
  EXPECT_EQ(
      RunFor<int32_t>("Cast", Attrs({{"to", std::string("i32")}}), {F({4}, {1e10f, -1e10f, NAN, -1.9f})}),
      (std::vector<int32_t>{INT32_MAX, INT32_MIN, 0, -1}));
  EXPECT_EQ(RunFor<uint8_t>("Cast", Attrs({{"to", std::string("bool")}}), {F({3}, {0.1f, 0, -0.f})}),
            (std::vector<uint8_t>{1, 0, 0}));
  EXPECT_EQ(RunFor<int8_t>("Cast", Attrs({{"to", std::string("i8")}}), {I32({2}, {200, -1})}),
            (std::vector<int8_t>{-56, -1}));
  EXPECT_EQ(RunFor<float>("Cast", Attrs({{"to", std::string("f32")}}), {Bools({2}, {7, 0})}),
            (std::vector<float>{1, 0}));
  EXPECT_EQ(RunFor<uint8_t>("Cast", Attrs({{"to", std::string("bool")}}), {Bools({2}, {7, 0})}),
            (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(RunFor<float>("Cast", Attrs({{"to", std::string("f32")}}),
                          {MakeTensor<uint64_t>(DType::kU64, {1}, {UINT64_MAX})}),
            (std::vector<float>{0x1p64f}));
  EXPECT_EQ(RunFor<uint16_t>("Cast", Attrs({{"to", std::string("f16")}}), {F({2}, {1e6f, 1})}),
            (std::vector<uint16_t>{0x7c00, 0x3c00}));
}

TEST(Cast, LongTensorsAreConvertedToTheLastElement) {
  std::vector<float> values(1500);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  const auto y = RunFor<int64_t>("CastLike", {}, {F({1500}, values), I64({}, {0})});
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(y[i], int64_t(i));
}

std::vector<uint8_t> CastBytes(const char* to, const Tensor& x, const Attributes& more = {}) {
  Attributes attributes = more;
  attributes.Set("to", std::string(to));
  return RunFor<uint8_t>("Cast", attributes, {x});
}

TEST(Cast, FloatsOfEightBitsAreRoundedOnceAndSaturateUnlessToldNotTo) {
  const Tensor x = F({6}, {1, 449, 1e6f, -INFINITY, 0x1p-10f, -0.f});
  EXPECT_EQ(CastBytes("f8e4m3fn", x), (std::vector<uint8_t>{0x38, 0x7e, 0x7e, 0xfe, 0, 0x80}));
  EXPECT_EQ(CastBytes("f8e4m3fn", x, Attrs({{"saturate", int64_t(0)}})),
            (std::vector<uint8_t>{0x38, 0x7e, 0x7f, 0xff, 0, 0x80}));
  // In f32 the number would be the midpoint of 1 and 1.125, and in f8e4m3fn then 1.
  const Tensor above = MakeTensor<double>(DType::kF64, {1}, {1.0625 + 0x1p-40});
  EXPECT_EQ(CastBytes("f8e4m3fn", above), (std::vector<uint8_t>{0x39}));
}

TEST(Cast, PowersOfTwoAreRoundedByTheAttribute) {
  const Tensor x = F({3}, {1.25f, 1.5f, 2});
  EXPECT_EQ(CastBytes("f8e8m0", x), (std::vector<uint8_t>{128, 128, 128}));
  EXPECT_EQ(CastBytes("f8e8m0", x, Attrs({{"round_mode", std::string("down")}})),
            (std::vector<uint8_t>{127, 127, 128}));
  EXPECT_EQ(CastBytes("f8e8m0", x, Attrs({{"round_mode", std::string("nearest")}})),
            (std::vector<uint8_t>{127, 128, 128}));
  EXPECT_THROW(CastBytes("f8e8m0", x, Attrs({{"round_mode", std::string("even")}})), Error);
}

TEST(Cast, NarrowIntegersDropTheHighBits) {
  EXPECT_EQ(RunFor<int8_t>("Cast", Attrs({{"to", std::string("i4")}}), {F({5}, {-9, -8.9f, 7, 8, NAN})}),
            (std::vector<int8_t>{7, -8, 7, -8, 0}));
  EXPECT_EQ(CastBytes("u2", I64({3}, {-1, 6, int64_t(1) << 60})), (std::vector<uint8_t>{3, 2, 0}));
  EXPECT_EQ(CastBytes("u4", MakeTensor<uint64_t>(DType::kU64, {1}, {UINT64_MAX})),
            (std::vector<uint8_t>{15}));
}

TEST(Cast, NarrowTypesBecomeEveryOther) {
  const auto bytes = [](DType type, const std::vector<uint8_t>& values) {
    return MakeTensor(type, {int64_t(values.size())}, values);
  };
  EXPECT_EQ(RunFor<int64_t>("CastLike", {}, {bytes(DType::kI4, {0xff, 0x07, 0x08}), I64({}, {0})}),
            (std::vector<int64_t>{-1, 7, -8}));
  EXPECT_EQ(RunFor<int32_t>("Cast", Attrs({{"to", std::string("i32")}}), {bytes(DType::kF8E5M2, {0xc3})}),
            (std::vector<int32_t>{-3}));
  EXPECT_EQ(CastBytes("bool", bytes(DType::kF4E2M1, {0, 1})), (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(CastBytes("f8e5m2", bytes(DType::kF8E4M3FN, {0x38, 0x7f})), (std::vector<uint8_t>{0x3c, 0x7e}));
  EXPECT_EQ(CastBytes("f4e2m1", Bools({2}, {1, 0})), (std::vector<uint8_t>{2, 0}));
  EXPECT_EQ(CastBytes("u4", bytes(DType::kI4, {0xff})), (std::vector<uint8_t>{15}));
}

TEST(NarrowTypes, AreMovedByTheirBytesAndNotComputedWith) {
  const Tensor x = MakeTensor<uint8_t>(DType::kF8E4M3FN, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(RunFor<uint8_t>("Transpose", {}, {x}), (std::vector<uint8_t>{1, 3, 2, 4}));
  EXPECT_EQ(RunFor<uint8_t>("Gather", {}, {x, I64({1}, {1})}), (std::vector<uint8_t>{3, 4}));
  EXPECT_EQ(RunFor<uint8_t>("Concat", Attrs({{"axis", int64_t(0)}}), {x, x}).size(), 8u);
  EXPECT_EQ(RunFor<uint8_t>("Where", {}, {Bools({2, 1}, {1, 0}), x, x}), (std::vector<uint8_t>{1, 2, 3, 4}));
  for (const char* op : {"Relu", "Softmax", "ReduceMax", "Trilu", "IsNaN"}) {
    try {
      RunOp(op, {}, {x});
      ADD_FAILURE() << op;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kUnimplemented);
      EXPECT_NE(std::string(e.what()).find("does not compute with element type f8e4m3fn; expected a Cast"),
                std::string::npos)
          << e.what();
    }
  }
  EXPECT_THROW(RunOp("ScatterND", Attrs({{"reduction", std::string("add")}}),
                     {x, I64({1, 1}, {0}), MakeTensor<uint8_t>(DType::kF8E4M3FN, {1, 2}, {1, 2})}),
               Error);
  EXPECT_THROW(RunOp("EyeLike", Attrs({{"dtype", std::string("i4")}}), {F({2, 2}, {1, 2, 3, 4})}), Error);
}

TEST(BitCast, TakesNoTypesBelowEightBits) {
  EXPECT_EQ(RunFor<uint8_t>("BitCast", Attrs({{"to", std::string("u8")}}),
                            {MakeTensor<uint8_t>(DType::kF8E5M2, {1}, {0x7f})}),
            (std::vector<uint8_t>{0x7f}));
  EXPECT_THROW(
      RunOp("BitCast", Attrs({{"to", std::string("u8")}}), {MakeTensor<uint8_t>(DType::kI4, {1}, {1})}),
      Error);
}

TEST(BitCast, KeepsTheBits) {
  EXPECT_EQ(RunFor<int32_t>("BitCast", Attrs({{"to", std::string("i32")}}), {F({1}, {1})}),
            (std::vector<int32_t>{0x3f800000}));
}

TEST(SwiGlu, GatesTheSecondInput) {
  ExpectNear(RunFor<float>("SwiGLU", Attrs({{"alpha", 2.f}}), {F({2}, {1, -1}), F({2}, {3, 5})}),
             {3 * 0.880797078f, -5 * 0.119202922f}, 1e-6);
}

TEST(Dropout, IsTheIdentityWithAFullMask) {
  const auto out = RunOp("Dropout", {}, {F({2}, {1, 2})}, 2);
  EXPECT_EQ(out[0].as<float>()[1], 2);
  EXPECT_EQ(out[1].as<uint8_t>()[1], 1);
}

}  // namespace
}  // namespace mete
