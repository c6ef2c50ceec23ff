#include "kernels/fast/depthwise/depthwise.h"

#include <gtest/gtest.h>

#include "kernels/fast/conv/conv_oracle.h"

namespace mete {
namespace {

ConvShape Channels(int64_t channels, int64_t height, int64_t width, int64_t kernel, int64_t stride,
                   int64_t pad, int64_t dilation = 1) {
  ConvShape s = {1,      height, width,  channels, 1,        1,   channels, kernel,
                 kernel, stride, stride, dilation, dilation, pad, pad,      channels};
  return Sized(s, pad, pad);
}

std::vector<ConvShape> Shapes() {
  return {Channels(32, 9, 11, 3, 1, 1),    Channels(24, 8, 13, 3, 2, 1),  Channels(3, 14, 12, 5, 1, 2),
          Channels(37, 15, 16, 5, 2, 2),   Channels(17, 9, 9, 7, 1, 3),   Channels(8, 12, 12, 3, 1, 2, 2),
          Channels(5, 2, 2, 5, 1, 4),      Channels(16, 20, 20, 3, 3, 0), Channels(1, 5, 5, 3, 1, 1),
          Channels(40, 3, 1, 3, 1, 1),     Channels(9, 4, 4, 1, 1, 0),    Channels(100, 9, 17, 7, 1, 3),
          Channels(20, 12, 29, 7, 2, 3, 2)};
}

std::vector<float> RunInBlocks(const ConvProblem& problem, int64_t rows_at_a_time, int64_t steps_at_a_time) {
  const DepthwisePlan plan = PlanDepthwise(problem.shape());
  EXPECT_STREQ(TargetOf(plan), ActiveTarget());
  std::vector<float> packed(PackedDepthwiseBytes(plan) / sizeof(float)), out = problem.Blank();
  PackDepthwise(plan, problem.weights(), packed.data());
  const int64_t channels = plan.shape.in_channels, step = steps_at_a_time * plan.channel_step;
  for (int64_t r = 0; r < plan.out_rows; r += rows_at_a_time) {
    for (int64_t c = 0; c < channels; c += step) {
      RunDepthwise(plan, problem.input(), packed.data(), problem.epilogue(),
                   {r, std::min(plan.out_rows, r + rows_at_a_time)}, {c, std::min(channels, c + step)},
                   out.data());
    }
  }
  return out;
}

TEST(DepthwiseF32, OddShapesMatchTheSumInDouble) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 1;
    for (const ConvShape& shape : Shapes()) {
      for (const FusedOp op : {FusedOp::kClip, FusedOp::kHardSwish}) {
        SCOPED_TRACE(::testing::Message() << "kernel " << shape.kernel_width << " seed " << seed);
        ConvProblem problem(shape, op, seed++);
        problem.Check(RunInBlocks(problem, 1000, 1000));
        if (::testing::Test::HasFailure()) return;
      }
    }
  });
}

// The cases run the specialized code (3x3 and 5x5) and the general code (4x4), one and two output rows at a
// time, with and without a residual.
TEST(DepthwiseF32, EveryActivationMatchesTheSumInDouble) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 100;
    for (const FusedOp op : kAllActivations) {
      for (ConvShape shape :
           {Channels(37, 7, 9, 3, 1, 1), Channels(21, 9, 8, 5, 2, 2), Channels(19, 6, 5, 4, 1, 1)}) {
        shape.out_pixel_stride = shape.out_channels + 3;
        SCOPED_TRACE(::testing::Message() << "activation " << Name(op) << " seed " << seed);
        ConvProblem problem(shape, op, seed++);
        problem.Check(RunInBlocks(problem, 1000, 1000));
        if (::testing::Test::HasFailure()) return;
      }
    }
  });
}

TEST(DepthwiseF32, RandomShapesMatchTheSumInDouble) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 500; seed < 550; ++seed) {
      RandomData random(seed);
      const int64_t channels = random.Int(1, 70);
      ConvShape s = {
          random.Int(1, 2), random.Int(6, 16), random.Int(6, 16), channels,         1, 1, channels,
          random.Int(1, 5), random.Int(1, 5),  random.Int(1, 3),  random.Int(1, 3), 1, 1, random.Int(0, 4),
          random.Int(0, 4), channels};
      s.in_pixel_stride = channels + random.Int(0, 3);
      s.out_pixel_stride = channels + random.Int(0, 3);
      s = Sized(s, random.Int(0, 4), random.Int(0, 4));
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      ConvProblem problem(s, FusedOp::kRelu, seed);
      problem.Check(RunInBlocks(problem, 1000, 1000));
      if (::testing::Test::HasFailure()) return;
    }
  });
}

TEST(DepthwiseF32, AnyBlocksStitchedTogetherGiveTheSameBits) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 71;
    for (const ConvShape& shape : Shapes()) {
      ConvProblem problem(shape, kAllActivations[seed % std::size(kAllActivations)], seed);
      ++seed;
      const std::vector<float> whole = RunInBlocks(problem, 1000, 1000);
      ASSERT_EQ(RunInBlocks(problem, 1, 1), whole);
      ASSERT_EQ(RunInBlocks(problem, 3, 2), whole);
    }
  });
}

}  // namespace
}  // namespace mete
