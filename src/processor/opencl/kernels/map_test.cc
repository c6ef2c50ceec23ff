#include "processor/opencl/kernels/map.h"

#include <gtest/gtest.h>

#include "kernels/fast/elementwise/elementwise_oracle.h"
#include "kernels/fast/test_util.h"
#include "mete/error.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

class Map : public WithQueue {
 protected:
  // Copies `values` as `from` says and returns the output's `count` elements, which are 7 before.
  std::vector<float> Copy(const MapSpec& spec, const std::vector<float>& values, int64_t count,
                          int vector = 16) {
    const Buffer x = Make(spec.inputs[0].type, values);
    const Buffer y = Make(spec.output.type, std::vector<float>(size_t(count), 7));
    Run(MapKernel(spec, vector), {&x, &y});
    return Read(y, spec.output.type);
  }
};

std::vector<float> Counted(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return values;
}

TEST_F(Map, ATranspositionMovesEachElement) {
  // [2][3][5][32] to [2][5][32][3], as NCHW from NHWC
  const MapSpec spec{.sizes = {2, 5, 32, 3},
                     .inputs = {{.strides = {480, 32, 1, 160}}},
                     .output = {.strides = {480, 96, 3, 1}},
                     .program = {}};
  const std::vector<float> x = Counted(960), y = Copy(spec, x, 960);
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t p = 0; p < 160; ++p)
      for (int64_t c = 0; c < 3; ++c)
        ASSERT_EQ(y[size_t((n * 160 + p) * 3 + c)], x[size_t((n * 3 + c) * 160 + p)]);
}

TEST_F(Map, APartOfAConcatenationLeavesTheOthers) {
  const MapSpec spec{.sizes = {6, 8},
                     .inputs = {{.strides = {8, 1}}},
                     .output = {.strides = {20, 1}, .first = 5},
                     .program = {}};
  const std::vector<float> x = Counted(48), y = Copy(spec, x, 120);
  for (int64_t row = 0; row < 6; ++row)
    for (int64_t c = 0; c < 20; ++c)
      ASSERT_EQ(y[size_t(row * 20 + c)], c >= 5 && c < 13 ? x[size_t(row * 8 + c - 5)] : 7);
}

TEST_F(Map, NegativeStridesAndStridedOutputs) {
  const MapSpec spec{
      .sizes = {16}, .inputs = {{.strides = {-1}, .first = 15}}, .output = {.strides = {2}}, .program = {}};
  const std::vector<float> x = Counted(16), y = Copy(spec, x, 32);
  for (size_t i = 0; i < 16; ++i) {
    ASSERT_EQ(y[2 * i], x[15 - i]);
    ASSERT_EQ(y[2 * i + 1], 7);
  }
}

TEST_F(Map, ConversionsRoundToNearestAndSaturate) {
  const std::vector<float> x = {-3, 0.4f, 0.5f, 1.5f, 2.5f, 254.6f, 300, 1.0009765f};
  MapSpec spec{.sizes = {8},
               .inputs = {{.strides = {1}}},
               .output = {.type = DType::kU8, .strides = {1}},
               .program = {}};
  EXPECT_EQ(Copy(spec, x, 8), (std::vector<float>{0, 0, 0, 2, 2, 255, 255, 1}));
  spec.output.type = DType::kF16;
  std::vector<float> halves = x;
  for (float& v : halves) v = F16ToF32(F32ToF16(v));
  EXPECT_EQ(Copy(spec, x, 8), halves);
  spec.inputs[0].type = DType::kF16;
  spec.output.type = DType::kF32;
  EXPECT_EQ(Copy(spec, halves, 8, 4), halves);
  spec.inputs[0].type = DType::kU8;
  EXPECT_EQ(Copy(spec, Counted(8), 8, 1), Counted(8));
}

TEST_F(Map, ALookupTakesTheBytesOfATable) {
  std::vector<float> table(256), x = Counted(7 * 24);
  for (size_t i = 0; i < table.size(); ++i) table[i] = float((i * 37 + 11) % 256);
  for (float& byte : x) byte = std::fmod(byte * 5 + 100, 256.f);
  // a slice of wider rows, then every third byte, then a transposition
  const auto check = [&](const std::vector<int64_t>& sizes, const MapOperand& from, const MapOperand& to,
                         int vector) {
    MapSpec spec{.sizes = sizes, .inputs = {from}, .output = to, .program = {}, .levels = ByteLookup{}};
    spec.inputs[0].type = spec.output.type = DType::kU8;
    const Buffer in = Make(DType::kU8, x), by = Make(DType::kU8, table),
                 out = Make(DType::kU8, std::vector<float>(500, 7));
    Run(MapKernel(spec, vector), {&in, &by, &out});
    std::vector<float> want(500, 7);
    for (int64_t row = 0; row < sizes[0]; ++row)
      for (int64_t c = 0; c < sizes[1]; ++c)
        want[size_t(to.first + row * to.strides[0] + c * to.strides[1])] =
            table[size_t(x[size_t(from.first + row * from.strides[0] + c * from.strides[1])])];
    EXPECT_EQ(Read(out, DType::kU8), want);
  };
  check({7, 24}, {.strides = {24, 1}}, {.strides = {40, 1}, .first = 13}, 16);
  check({7, 24}, {.strides = {24, 1}}, {.strides = {24, 1}}, 4);
  check({1, 49}, {.strides = {0, 3}, .first = 1}, {.strides = {49, 1}}, 16);
  check({24, 7}, {.strides = {1, 24}}, {.strides = {7, 1}}, 8);
  check({8, 7}, {.strides = {1, 24}}, {.strides = {1, 8}}, 8);
}

TEST(MapText, NeighboursAreJoinedWhereAllTensorsWalkOn) {
  const MapSpec joined = Joined({.sizes = {2, 3, 1, 4},
                                 .inputs = {{.strides = {12, 4, 0, 1}}, {.strides = {0, 0, 0, 1}}},
                                 .output = {.strides = {12, 4, 4, 1}},
                                 .program = {.inputs = 2, .steps = 1, .step = {}}});
  EXPECT_EQ(joined.sizes, (std::vector<int64_t>{6, 4}));
  EXPECT_EQ(joined.inputs[0].strides, (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(joined.inputs[1].strides, (std::vector<int64_t>{0, 1}));
}

TEST(MapText, OperandsThatDoNotFitAreRefused) {
  EXPECT_THROW(BroadcastStrides(std::vector<int64_t>{3}, std::vector<int64_t>{4}), Error);
  EXPECT_THROW(BroadcastStrides(std::vector<int64_t>{1, 4}, std::vector<int64_t>{4}), Error);
  EXPECT_THROW(
      MapKernel({.sizes = {4}, .inputs = {{.strides = {}}}, .output = {.strides = {1}}, .program = {}}, 4),
      Error);
  EXPECT_THROW(MapKernel({.sizes = {4}, .inputs = {}, .output = {.strides = {1}}, .program = {}}, 4), Error);
  EXPECT_THROW(MapKernel({.sizes = {4},
                          .inputs = {{.strides = {1}}},
                          .output = {.strides = {1}},
                          .program = {},
                          .levels = ByteLookup{}},
                         4),
               Error);
}

// Steps that use every function once, over a tensor, a channel, a scalar and one value for each image.
FusedProgram Program(FusedOp op) {
  FusedProgram p{.inputs = 4, .steps = 3, .step = {}};
  p.step[0] = {{FusedOp::kAdd}, {0, 1, -1}};
  p.step[1] = IsBinary(op) ? FusedStep{{op}, {4, 2, -1}} : FusedStep{{op, 0.1f, 3}, {4, -1, -1}};
  p.step[2] = {{FusedOp::kMul}, {5, 3, -1}};
  return p;
}

TEST_F(Map, ChainsOfEachFunctionWithBroadcastsMatchDouble) {
  const std::vector<int64_t> sizes = {2, 5, 12};
  RandomData random(3);
  // Arguments of logarithms, roots and powers are positive: 1.5 to 3.5.
  std::vector<float> x = random.Floats(120, 0.5f), by_channel = random.Floats(12, 0.5f),
                     by_image = random.Floats(2);
  for (float& v : by_channel) v += 2.5f;
  const std::vector<float> scalar = {1.5f};
  const Buffer bx = Make(DType::kF32, x), bc = Make(DType::kF32, by_channel), bs = Make(DType::kF32, scalar),
               bi = Make(DType::kF32, by_image), y = Blank(480);
  for (FusedOp op = FusedOp::kAdd; op <= FusedOp::kNeg; op = FusedOp(int(op) + 1)) {
    MapSpec spec{.sizes = sizes, .inputs = {}, .output = {.strides = {60, 12, 1}}, .program = Program(op)};
    for (const std::vector<int64_t>& shape : {sizes, {12}, {}, {2, 1, 1}})
      spec.inputs.push_back({.strides = BroadcastStrides(shape, sizes)});
    Run(MapKernel(spec, 4), {&bx, &bc, &bs, &bi, &y});
    const std::vector<float> got = Read(y, DType::kF32);
    for (size_t i = 0; i < got.size(); ++i) {
      const double v = StepOracle({op, 0.1f, 3}, double{x[i]} + by_channel[i % 12], 1.5) * by_image[i / 60];
      // 16 units in the last place of the function, and its argument's rounding times its slope of at most
      // e^3.5
      ASSERT_NEAR(got[i], v, std::numeric_limits<float>::epsilon() * (20 * std::abs(v) + 4 * 34)) << Name(op);
    }
  }
}

}  // namespace
}  // namespace mete::opencl
