#include "kernels/fast/elementwise/elementwise.h"

#include <gtest/gtest.h>

#include <bit>

#include "kernels/fast/elementwise/elementwise_oracle.h"
#include "kernels/fast/test_util.h"

namespace mete {
namespace {

struct ErrorOf {
  FusedOp op;
  float low, high;
  double relative, absolute;
  float alpha = 1, beta = 0;
};

// The bounds are those that math-inl.h and activation-inl.h state; single instructions are exact.
TEST(ElementwiseF32, UnaryStepsKeepTheirStatedErrors) {
  constexpr ErrorOf kBounds[] = {{FusedOp::kExp, -87, 88, 1.5e-7, 0},
                                 {FusedOp::kLog, 1e-37f, 100, 2e-7, 1e-7},
                                 {FusedOp::kTanh, -12, 12, 5e-7, 0},
                                 {FusedOp::kErf, -6, 6, 5e-7, 0},
                                 {FusedOp::kSigmoid, -80, 80, 4e-7, 0},
                                 {FusedOp::kSqrt, 0, 100, 1e-7, 0},
                                 {FusedOp::kReciprocal, 0.01f, 100, 1e-7, 0},
                                 {FusedOp::kAbs, -9, 9, 0, 0},
                                 {FusedOp::kNeg, -9, 9, 0, 0},
                                 {FusedOp::kSoftplus, -80, 80, 1e-6, 0},
                                 {FusedOp::kMish, -80, 20, 2e-6, 0},
                                 {FusedOp::kGelu, -10, 10, 1e-6, 4e-7},
                                 {FusedOp::kSwish, -20, 20, 1e-6, 1e-7},
                                 {FusedOp::kHardSwish, -9, 9, 1e-6, 1e-6},
                                 {FusedOp::kElu, -20, 20, 1e-6, 1e-7},
                                 {FusedOp::kGelu, -20, 20, 1e-6, 1.5e-7, 0},
                                 {FusedOp::kSwish, -20, 20, 1e-6, 1e-7, 1.7f},
                                 {FusedOp::kRelu, -9, 9, 0, 0},
                                 {FusedOp::kClip, -9, 9, 0, 0, -1, 2},
                                 {FusedOp::kLeakyRelu, -9, 9, 1e-7, 0, 0.1f},
                                 {FusedOp::kHardSigmoid, -9, 9, 1e-6, 1e-7, 0.2f, 0.5f}};
  OnEveryTarget([&](const std::string&) {
    for (const ErrorOf& bound : kBounds) {
      constexpr int64_t kCount = 20011;
      std::vector<float> in(kCount), out(kCount);
      for (int64_t i = 0; i < kCount; ++i)
        in[i] = bound.low + (bound.high - bound.low) * static_cast<float>(i) / (kCount - 1);
      FusedProgram program;
      program.inputs = program.steps = 1;
      program.step[0] = {{bound.op, bound.alpha, bound.beta}, {0, -1, -1}};
      ElementwisePlan plan;
      const BroadcastInput full;
      ASSERT_TRUE(PlanElementwise(program, {&full, 1}, &plan));
      const float* inputs[] = {in.data()};
      RunElementwise(plan, inputs, {0, kCount}, out.data());
      for (int64_t i = 0; i < kCount; ++i) {
        const double expected = StepOracle(program.step[0].function, in[i], 0);
        ASSERT_NEAR(out[i], expected, bound.relative * std::abs(expected) + bound.absolute)
            << Name(bound.op) << " of " << in[i];
      }
    }
  });
}

TEST(ElementwiseF32, LimitsAndNan) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  struct Case {
    FusedOp op;
    float in, out;
  };
  constexpr Case kCases[] = {
      {FusedOp::kExp, kInf, kInf},   {FusedOp::kExp, -kInf, 0},        {FusedOp::kExp, 100, kInf},
      {FusedOp::kExp, -200, 0},      {FusedOp::kLog, 0, -kInf},        {FusedOp::kLog, kInf, kInf},
      {FusedOp::kLog, -1, NAN},      {FusedOp::kTanh, kInf, 1},        {FusedOp::kTanh, -kInf, -1},
      {FusedOp::kErf, kInf, 1},      {FusedOp::kErf, -kInf, -1},       {FusedOp::kSigmoid, -kInf, 0},
      {FusedOp::kSigmoid, kInf, 1},  {FusedOp::kSoftplus, kInf, kInf}, {FusedOp::kExp, NAN, NAN},
      {FusedOp::kLog, NAN, NAN},     {FusedOp::kTanh, NAN, NAN},       {FusedOp::kErf, NAN, NAN},
      {FusedOp::kSigmoid, NAN, NAN}, {FusedOp::kRelu, NAN, NAN},       {FusedOp::kClip, NAN, NAN},
      {FusedOp::kElu, NAN, NAN},     {FusedOp::kGelu, NAN, NAN},       {FusedOp::kSoftplus, NAN, NAN},
      {FusedOp::kMish, kInf, kInf},  {FusedOp::kGelu, kInf, kInf},     {FusedOp::kElu, -kInf, 0}};
  OnEveryTarget([&](const std::string&) {
    for (const Case& c : kCases) {
      FusedProgram program;
      program.inputs = program.steps = 1;
      program.step[0] = {{c.op, 0, 1}, {0, -1, -1}};
      ElementwisePlan plan;
      const BroadcastInput scalar{.spread = Broadcast::kScalar};
      ASSERT_TRUE(PlanElementwise(program, {&scalar, 1}, &plan));
      const float* inputs[] = {&c.in};
      float out = 7;
      RunElementwise(plan, inputs, {0, 1}, &out);
      if (std::isnan(c.out)) {
        EXPECT_TRUE(std::isnan(out)) << Name(c.op) << " of " << c.in << " is " << out;
      } else {
        EXPECT_EQ(out, c.out) << Name(c.op) << " of " << c.in;
      }
    }
  });
}

// The result for a NaN must be a NaN, whatever its bits; arithmetic on these bits must not make a number of
// it.
TEST(ElementwiseF32, EveryNanStaysOne) {
  std::vector<FusedOp> ops(std::begin(kAllActivations), std::end(kAllActivations));
  for (const FusedOp op : {FusedOp::kErf, FusedOp::kExp, FusedOp::kLog, FusedOp::kSqrt, FusedOp::kReciprocal})
    ops.push_back(op);
  std::vector<float> in;
  for (uint32_t payload = 1; payload < 0x400000; payload = payload * 2 + 1) {
    for (const uint32_t sign : {0x7FC00000u, 0xFFC00000u}) {
      in.push_back(std::bit_cast<float>(sign | payload));
      in.push_back(std::bit_cast<float>(sign | (0x400000 - payload)));
    }
  }
  OnEveryTarget([&](const std::string&) {
    for (const FusedOp op : ops) {
      for (const float alpha : {0.25f, 1.0f}) {
        FusedProgram program;
        program.inputs = program.steps = 1;
        program.step[0] = {{op, alpha, 2}, {0, -1, -1}};
        ElementwisePlan plan;
        const BroadcastInput full;
        ASSERT_TRUE(PlanElementwise(program, {&full, 1}, &plan));
        std::vector<float> out(in.size());
        const float* inputs[] = {in.data()};
        RunElementwise(plan, inputs, {0, static_cast<int64_t>(in.size())}, out.data());
        for (size_t i = 0; i < in.size(); ++i)
          ASSERT_TRUE(std::isnan(out[i])) << Name(op) << " gives " << out[i];
      }
    }
  });
}

// Returns a program whose steps do not amplify errors.
FusedProgram RandomProgram(RandomData& random) {
  constexpr FusedOp kOps[] = {FusedOp::kAdd,  FusedOp::kSub,  FusedOp::kMin, FusedOp::kMax,
                              FusedOp::kTanh, FusedOp::kRelu, FusedOp::kAbs, FusedOp::kNeg};
  FusedProgram p;
  p.inputs = static_cast<int>(random.Int(1, 6));
  p.steps = static_cast<int>(random.Int(1, 12));
  for (int k = 0; k < p.steps; ++k) {
    FusedStep& step = p.step[static_cast<size_t>(k)];
    step.function.op = kOps[random.Int(0, 7)];
    for (int i = 0; i < (IsBinary(step.function.op) ? 2 : 1); ++i)
      step.args[static_cast<size_t>(i)] = static_cast<int>(random.Int(0, p.inputs + k - 1));
  }
  return p;
}

// Returns a shape of up to four dimensions, of which one may be longer than a chunk.
Shape RandomShape(RandomData& random) {
  Shape shape;
  const int64_t rank = random.Int(1, 4), longest = random.Int(-2, 3);
  for (int64_t i = 0; i < rank; ++i) shape.push_back(i == longest ? random.Int(200, 700) : random.Int(1, 6));
  return shape;
}

// Returns a shape that is broadcast to `out`: its last dimensions, some of them 1.
Shape RandomPart(const Shape& out, RandomData& random) {
  Shape shape;
  const int64_t missing = std::max<int64_t>(0, random.Int(-out.rank(), out.rank()));
  for (int i = static_cast<int>(missing); i < out.rank(); ++i) shape.push_back(random.Int(0, 1) ? out[i] : 1);
  return shape;
}

// Returns the element of an input of shape `in` for element `e` of the output.
int64_t ElementOf(const Shape& in, const Shape& out, int64_t e) {
  int64_t at = 0, step = 1;
  for (int i = out.rank() - 1, d = in.rank() - 1; d >= 0; --i, --d) {
    if (in[d] != 1) at += e % out[i] * step;
    step *= in[d];
    e /= out[i];
  }
  return at;
}

TEST(ElementwiseF32, RandomProgramsInAnyBlocksMatchDouble) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1; seed <= 120; ++seed) {
      RandomData random(seed);
      const FusedProgram program = RandomProgram(random);
      const Shape shape = RandomShape(random);
      const int64_t count = shape.Elements();
      std::vector<std::vector<float>> data;
      std::vector<const float*> inputs;
      std::vector<Shape> shapes;
      std::vector<BroadcastInput> spreads;
      for (int i = 0; i < program.inputs; ++i) {
        shapes.push_back(random.Int(0, 2) == 0 ? shape : RandomPart(shape, random));
        spreads.push_back(BroadcastOf(shapes.back(), shape));
        data.push_back(random.Floats(shapes.back().Elements()));
      }
      for (const auto& d : data) inputs.push_back(d.data());
      ElementwisePlan plan;
      ASSERT_TRUE(PlanElementwise(program, spreads, &plan));
      std::vector<float> out(static_cast<size_t>(count));
      const int64_t cut = random.Int(0, count);
      RunElementwise(plan, inputs.data(), {0, cut}, out.data());
      RunElementwise(plan, inputs.data(), {cut, count}, out.data());
      for (int64_t e = 0; e < count; ++e) {
        std::vector<double> r;
        for (size_t i = 0; i < shapes.size(); ++i) r.push_back(inputs[i][ElementOf(shapes[i], shape, e)]);
        double magnitude = 1;
        for (int k = 0; k < program.steps; ++k) {
          const FusedStep& s = program.step[static_cast<size_t>(k)];
          r.push_back(StepOracle(s.function, r[static_cast<size_t>(s.args[0])],
                                 s.args[1] < 0 ? 0 : r[static_cast<size_t>(s.args[1])]));
          magnitude = std::max(magnitude, std::abs(r.back()));
        }
        ASSERT_NEAR(out[static_cast<size_t>(e)], r.back(), magnitude * program.steps * 4e-6)
            << "seed " << seed << " element " << e;
      }
    }
  });
}

TEST(BroadcastOf, JoinsDimensionsThatAreOneForTheInput) {
  const auto text = [](const Shape& in, const Shape& out) {
    const BroadcastInput of = BroadcastOf(in, out);
    std::string s;
    for (size_t i = 0; i < static_cast<size_t>(of.rank); ++i)
      s += std::to_string(of.dims[i]) + "x" + std::to_string(of.strides[i]) + " ";
    return s;
  };
  EXPECT_EQ(text({64, 1, 1}, {1, 64, 5, 6}), "64x1 30x0 ");
  EXPECT_EQ(text({8, 1, 7}, {8, 9, 7}), "8x7 9x0 7x1 ");
  EXPECT_EQ(text({9, 7}, {2, 3, 9, 7}), "6x0 63x1 ");
  EXPECT_EQ(text({2, 3, 1, 1}, {2, 3, 9, 7}), "6x1 63x0 ");
  EXPECT_EQ(BroadcastOf({1, 1}, {3, 4}).spread, Broadcast::kScalar);
  EXPECT_EQ(BroadcastOf({4}, {1, 4}).spread, Broadcast::kFull);
}

TEST(ElementwiseF32, TheOutputMayBeAnInput) {
  std::vector<float> x = {1, -2, 3}, y = {4, 5, 6};
  FusedProgram program;
  program.inputs = 2;
  program.steps = 2;
  program.step[0] = {{FusedOp::kMul}, {0, 1, -1}};
  program.step[1] = {{FusedOp::kAdd}, {2, 0, -1}};
  const BroadcastInput full[2];
  ElementwisePlan plan;
  ASSERT_TRUE(PlanElementwise(program, full, &plan));
  const float* inputs[] = {x.data(), y.data()};
  RunElementwise(plan, inputs, {0, 3}, x.data());
  EXPECT_EQ(x, (std::vector<float>{5, -12, 21}));
}

TEST(ElementwiseF32, AProgramThatHoldsTooManyValuesIsRefused) {
  FusedProgram program;
  program.inputs = 1;
  program.steps = 63;
  for (int k = 0; k < 32; ++k) program.step[static_cast<size_t>(k)] = {{FusedOp::kNeg}, {0, -1, -1}};
  for (int k = 32; k < 63; ++k) program.step[static_cast<size_t>(k)] = {{FusedOp::kAdd}, {k - 31, k, -1}};
  const BroadcastInput full;
  ElementwisePlan plan;
  EXPECT_FALSE(PlanElementwise(program, {&full, 1}, &plan));
}

}  // namespace
}  // namespace mete
