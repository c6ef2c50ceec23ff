#include "kernels/fast/winograd/winograd.h"

#include <gtest/gtest.h>

#include "kernels/fast/winograd/winograd_oracle.h"

namespace mete {
namespace {

class WinogradF32 : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Tiles, WinogradF32, ::testing::Values(2, 4, 6));

TEST_P(WinogradF32, OddShapesStayWithinTheStatedBound) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 1;
    for (const ConvShape& shape : WinogradShapes()) {
      SCOPED_TRACE(::testing::Message() << "shape " << seed - 1 << " seed " << seed);
      WinogradProblem problem(shape, GetParam(), FusedOp::kRelu, seed);
      problem.CheckWithin(problem.RunWhole(), problem.Bounds());
      ++seed;
      if (::testing::Test::HasFailure()) return;
    }
  });
}

TEST_P(WinogradF32, EveryActivationWithAndWithoutResidual) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 50;
    for (const FusedOp op : kAllActivations) {
      for (int i = 0; i < 2; ++i) {
        SCOPED_TRACE(::testing::Message() << "activation " << static_cast<int>(op) << " seed " << seed);
        WinogradProblem problem(Three(1, 7, 9, 6, 35, 1, 1), GetParam(), op, seed++);
        problem.CheckWithin(problem.RunWhole(), problem.Bounds());
        if (::testing::Test::HasFailure()) return;
      }
    }
  });
}

TEST_P(WinogradF32, RandomShapesStayWithinTheStatedBound) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1000; seed < 1020; ++seed) {
      RandomData random(seed);
      const int64_t batch = random.Int(1, 2), h = random.Int(3, 20), w = random.Int(3, 20),
                    c = random.Int(1, 40), n = random.Int(1, 70);
      ConvShape s = {batch, h, w, c, 1, 1, n, 3, 3, 1, 1, 1, 1, random.Int(0, 2), random.Int(0, 2), 1};
      s = Sized(s, random.Int(0, 2), random.Int(0, 2));
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      WinogradProblem problem(s, GetParam(), FusedOp::kClip, seed);
      problem.CheckWithin(problem.RunWhole(), problem.Bounds());
      if (::testing::Test::HasFailure()) return;
    }
  });
}

// The errors must stay below the bound, and the bound must not be a hundred times too large, for few and for
// many channels.
TEST_P(WinogradF32, TheStatedBoundIsClose) {
  OnEveryTarget([](const std::string&) {
    for (const int64_t channels : {4, 64, 512}) {
      WinogradProblem problem(Three(1, 12, 12, channels, 32, 1, 1), GetParam(), FusedOp::kNone, 7);
      const std::vector<float> out = problem.RunWhole(Epilogue());
      const std::vector<double> bounds = problem.Bounds();
      double closest = 0;
      for (int64_t p = 0; p < problem.shape().out_pixels(); ++p) {
        for (int64_t m = 0; m < problem.shape().out_channels; ++m) {
          const size_t i = static_cast<size_t>(p * problem.shape().out_channels + m);
          closest = std::max(closest, std::abs(out[i] - problem.Sum(p, m).sum) / bounds[i]);
        }
      }
      RecordProperty("of_bound_" + std::to_string(channels), std::to_string(closest));
      EXPECT_LE(closest, 1.0) << channels << " channels";
      EXPECT_GE(closest, 0.01) << channels << " channels";
    }
  });
}

TEST_P(WinogradF32, AnyBlocksStitchedTogetherGiveTheSameBits) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 31;
    for (const ConvShape& shape : WinogradShapes()) {
      ++seed;
      WinogradProblem problem(shape, GetParam(), kAllActivations[seed % std::size(kAllActivations)], seed);
      const std::vector<float> whole = problem.RunWhole();
      RandomData random(seed);
      std::vector<float> stitched = problem.Blank();
      for (int64_t t = 0; t < problem.plan().tiles;) {
        const int64_t end = std::min(problem.plan().tiles, t + random.Int(1, 20));
        // The pass may have any length up to the one for which the scratch memory is sized.
        problem.plan().pass = random.Int(1, problem.plan().pass);
        for (int64_t q = 0; q < problem.plan().panels; ++q)
          problem.Run(problem.epilogue(), {t, end}, {q, q + 1}, stitched);
        t = end;
      }
      ASSERT_EQ(stitched, whole) << "seed " << seed;
    }
  });
}

// The test checks the matrices in double: A^T (G g * B^T d) is the correlation of g and d.
TEST_P(WinogradF32, TheMatricesMakeTheFilter) {
  WithWinograd(GetParam(), [](auto matrices) {
    for (size_t i = 0; i < std::size(matrices.kOutput); ++i)
      for (size_t k = 0; k < 3; ++k)
        for (size_t j = 0; j < std::size(matrices.kInput); ++j) {
          double sum = 0;
          for (size_t p = 0; p < std::size(matrices.kInput); ++p) {
            sum += matrices.kOutput[i][p] * matrices.kWeights[p][k] * matrices.kInput[p][j];
          }
          EXPECT_NEAR(sum, j == i + k ? 1 : 0, 1e-13) << "output " << i << " tap " << k << " input " << j;
        }
  });
}

TEST(Winograd, TakesOnlyThreeByThreeAtStrideOne) {
  ConvShape s = Three(1, 8, 8, 4, 4, 1, 1);
  EXPECT_TRUE(TakesWinograd(s));
  for (int64_t ConvShape::*field :
       {&ConvShape::kernel_height, &ConvShape::kernel_width, &ConvShape::stride_y, &ConvShape::stride_x,
        &ConvShape::dilation_y, &ConvShape::dilation_x, &ConvShape::groups}) {
    ConvShape other = s;
    other.*field = 2;
    EXPECT_FALSE(TakesWinograd(other));
  }
}

TEST(Winograd, GrowthIsThatOfTheHeader) {
  EXPECT_DOUBLE_EQ(WinogradGrowth(2), 64);
  EXPECT_DOUBLE_EQ(WinogradGrowth(4), 2304);
  EXPECT_NEAR(WinogradGrowth(6), 4579, 0.5);
}

}  // namespace
}  // namespace mete
