#include "kernels/fast/conv/conv.h"

#include <gtest/gtest.h>

#include "kernels/fast/conv/conv_oracle.h"

namespace mete {
namespace {

class Problem : public ConvProblem {
 public:
  Problem(const ConvShape& shape, FusedOp op, uint32_t seed)
      : ConvProblem(shape, op, seed), plan_(PlanConv(shape)) {
    EXPECT_STREQ(TargetOf(plan_), ActiveTarget());
    packed_.assign(PackedConvBytes(plan_) / sizeof(float), NAN);
    PackConv(plan_, weights(), {0, plan_.panels}, packed_.data());
    scratch_.resize(ConvScratchBytes(plan_) / sizeof(double) + 1);
  }

  const ConvPlan& plan() const { return plan_; }
  void SetTile(const Tile& tile) { plan_.gemm.tile = tile; }
  void Run(Range pixels, Range panels, std::vector<float>& out) {
    RunConv(plan_, input(), packed_.data(), epilogue(), pixels, panels, out.data(), scratch_.data());
  }
  std::vector<float> RunWhole() {
    std::vector<float> out = Blank();
    Run({0, shape().out_pixels()}, {0, plan_.panels}, out);
    return out;
  }

 private:
  ConvPlan plan_;
  std::vector<float> packed_;
  std::vector<double> scratch_;
};

TEST(ConvF32, OddShapesMatchTheSumInDouble) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 1;
    for (const ConvShape& shape : OddConvShapes()) {
      SCOPED_TRACE(::testing::Message() << "shape " << seed - 1 << " seed " << seed);
      Problem problem(shape, seed % 3 ? FusedOp::kRelu : FusedOp::kLeakyRelu, seed);
      problem.Check(problem.RunWhole());
      ++seed;
      if (::testing::Test::HasFailure()) return;
    }
  });
}

// The cases have two panels of which the last ends within a vector, a 3x3 convolution and a product, a sum in
// several chunks, two columns alone, and epilogues with and without a residual.
TEST(ConvF32, EveryActivationMatchesTheSumInDouble) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 200;
    for (const FusedOp op : kAllActivations) {
      for (const ConvShape& shape : {Sized({1, 5, 6, 20, 1, 1, 75, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
                                     Sized({1, 3, 7, 9, 1, 1, 64, 1, 1, 1, 1, 1, 1, 0, 0, 1, 13, 67}, 0, 0),
                                     Sized({1, 3, 3, 600, 1, 1, 10, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
                                     Sized({1, 5, 6, 50, 1, 1, 2, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1)}) {
        SCOPED_TRACE(::testing::Message() << "activation " << Name(op) << " seed " << seed);
        Problem problem(shape, op, seed++);
        problem.Check(problem.RunWhole());
        if (::testing::Test::HasFailure()) return;
      }
    }
  });
}

TEST(ConvF32, RandomShapesMatchTheSumInDouble) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1000; seed < 1040; ++seed) {
      RandomData random(seed);
      const int64_t groups = random.Int(1, 3);
      ConvShape s = {random.Int(1, 2),
                     random.Int(5, 14),
                     random.Int(5, 14),
                     groups * random.Int(1, 9),
                     1,
                     1,
                     groups * random.Int(1, 40),
                     random.Int(1, 4),
                     random.Int(1, 4),
                     random.Int(1, 3),
                     random.Int(1, 3),
                     1,
                     1,
                     random.Int(0, 3),
                     random.Int(0, 3),
                     groups};
      s = Sized(s, random.Int(0, 3), random.Int(0, 3));
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      Problem problem(s, FusedOp::kClip, seed);
      problem.Check(problem.RunWhole());
      if (::testing::Test::HasFailure()) return;
    }
  });
}

TEST(ConvF32, AnyBlocksStitchedTogetherGiveTheSameBits) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 31;
    for (const ConvShape& shape : OddConvShapes()) {
      ++seed;
      Problem problem(shape, kAllActivations[seed % std::size(kAllActivations)], seed);
      RandomData random(seed);
      std::vector<float> stitched = problem.Blank();
      for (int64_t p = 0; p < shape.out_pixels();) {
        const int64_t end = std::min(shape.out_pixels(), p + random.Int(1, 40));
        for (int64_t q = 0; q < problem.plan().panels; ++q) problem.Run({p, end}, {q, q + 1}, stitched);
        p = end;
      }
      ASSERT_EQ(stitched, problem.RunWhole()) << "seed " << seed;
    }
  });
}

// Two clusters of cores compute a convolution like this: each block runs with the tile of the cluster that
// takes it.
TEST(ConvF32, BlocksOfTwoTilesStitchedTogetherGiveTheSameBits) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 131;
    for (const ConvShape& shape : OddConvShapes()) {
      ++seed;
      Problem problem(shape, kAllActivations[seed % std::size(kAllActivations)], seed);
      const std::vector<float> whole = problem.RunWhole();
      const std::vector<Tile> tiles = GemmTiles(problem.plan().gemm, shape.out_pixels());
      RandomData random(seed);
      std::vector<float> stitched = problem.Blank();
      for (int64_t p = 0, end; p < shape.out_pixels(); p = end) {
        end = std::min(shape.out_pixels(), p + random.Int(1, 40));
        for (int64_t q = 0; q < problem.plan().panels; ++q) {
          problem.SetTile(tiles[size_t(random.Int(0, std::ssize(tiles) - 1))]);
          problem.Run({p, end}, {q, q + 1}, stitched);
        }
      }
      ASSERT_EQ(stitched, whole) << "seed " << seed;
    }
  });
}

TEST(ConvF32, PlainOneByOneIsAMatrixProduct) {
  ConvShape s;
  s.in_height = s.out_height = s.in_width = s.out_width = 4;
  EXPECT_TRUE(PlanConv(s).as_gemm);
  s.stride_x = 2;
  EXPECT_FALSE(PlanConv(s).as_gemm);
}

TEST(ConvF32, FewOutputsAreDotProducts) {
  ConvShape s;
  s.in_channels = 64;
  s.kernel_height = s.kernel_width = 3;
  const int64_t lanes = PlanConv(s).split.lanes();
  for (const int64_t outputs : {1, 2, 4, 8, 16}) {
    s.out_channels = outputs;
    EXPECT_EQ(PlanConv(s).gemm.dots, 2 * outputs <= lanes) << outputs;
  }
  s.out_channels = 1;
  s.in_channels = 1;  // taps of one element are no runs
  EXPECT_FALSE(PlanConv(s).gemm.dots);
}

TEST(ConvF32, AFirstLayerReadsWholeKernelRows) {
  ConvShape s;
  s.in_channels = 3;
  s.kernel_height = s.kernel_width = 7;
  const ConvPlan plan = PlanConv(s);
  EXPECT_TRUE(plan.joined);
  EXPECT_EQ(plan.taps, 7);
  EXPECT_EQ(plan.tap_length, 21);
}

}  // namespace
}  // namespace mete
