#include "kernels/fast/gemm/gemm.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

struct Case {
  int64_t m, n, k;
  bool transposed = false, bias = false, residual = false;
  Activation activation = {};
};

class Problem {
 public:
  Problem(const Case& c, uint32_t seed) : case_(c), a_stride_(c.k + 3), c_stride_(c.n + 5) {
    RandomData random(seed);
    a_ = random.Floats(c.m * a_stride_);
    b_ = random.Floats(c.n * c.k);
    bias_ = random.Floats(c.n);
    residual_ = random.Floats(c.m * c_stride_);
    if (c.bias) epilogue_.bias = bias_.data();
    if (c.residual) epilogue_.residual = residual_.data();
    epilogue_.activation = c.activation;
  }

  void Pack(const GemmPlan& plan) {
    packed_.assign(PackedGemmBytes(plan) / sizeof(float), NAN);
    PackGemm(plan,
             {.b = b_.data(), .stride = case_.transposed ? case_.k : case_.n, .transposed = case_.transposed},
             {0, plan.panels}, packed_.data());
  }

  void Run(const GemmPlan& plan, Range rows, Range panels, std::vector<float>& c) const {
    RunGemm(plan, a_.data(), a_stride_, packed_.data(), epilogue_, rows, panels, c.data(), c_stride_);
  }

  std::vector<float> Blank() const {
    return std::vector<float>(static_cast<size_t>(case_.m * c_stride_), -77.0f);
  }

  std::vector<float> RunWhole() {
    const GemmPlan plan = PlanGemm(case_.n, case_.k);
    EXPECT_STREQ(TargetOf(plan), ActiveTarget());
    Pack(plan);
    std::vector<float> c = Blank();
    Run(plan, {0, case_.m}, {0, plan.panels}, c);
    return c;
  }

  void Check(const std::vector<float>& c) const {
    for (int64_t i = 0; i < case_.m; ++i) {
      for (int64_t j = 0; j < c_stride_; ++j) {
        const float got = c[static_cast<size_t>(i * c_stride_ + j)];
        if (j >= case_.n) {
          ASSERT_EQ(got, -77.0f) << "written outside at " << i << "," << j;
        } else {
          CheckOne(i, j, got);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }

 private:
  void CheckOne(int64_t i, int64_t j, float got) const {
    double sum = 0, magnitude = 1;
    for (int64_t k = 0; k < case_.k; ++k) {
      const double product =
          double{a_[i * a_stride_ + k]} * b_[case_.transposed ? j * case_.k + k : k * case_.n + j];
      sum += product;
      magnitude += std::abs(product);
    }
    if (case_.bias) sum += bias_[j];
    if (case_.residual) sum += residual_[i * c_stride_ + j];
    ASSERT_NEAR(got, ActivateOracle(epilogue_.activation, sum), SumTolerance(case_.k + 2, magnitude + 2))
        << "at " << i << "," << j;
  }

  Case case_;
  int64_t a_stride_, c_stride_;
  std::vector<float> a_, b_, bias_, residual_, packed_;
  Epilogue epilogue_;
};

TEST(GemmF32, OddShapesMatchTheSumInDouble) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 1;
    for (const Case& c :
         {Case{1, 1, 1}, Case{1, 5, 7}, Case{3, 32, 16}, Case{8, 64, 64}, Case{9, 33, 257}, Case{13, 31, 300},
          Case{49, 70, 19}, Case{7, 16, 1030}, Case{300, 17, 5}, Case{2, 3, 0}, Case{9, 1, 100},
          Case{13, 2, 65}, Case{11, 3, 130}, Case{6, 4, 1030}, Case{5, 7, 259}}) {
      SCOPED_TRACE(::testing::Message() << c.m << "x" << c.n << "x" << c.k);
      for (const bool transposed : {false, true}) {
        Case with = c;
        with.transposed = transposed;
        with.bias = true;
        Problem problem(with, seed++);
        problem.Check(problem.RunWhole());
      }
    }
  });
}

TEST(GemmF32, EveryEpilogueOnWholeAndPartialPanels) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 100;
    for (const FusedOp op : kAllActivations) {
      for (const float alpha : {0.25f, 1.0f, -0.5f}) {
        for (const int64_t k : {9, 700}) {
          SCOPED_TRACE(::testing::Message() << "activation " << Name(op) << " alpha " << alpha << " k " << k);
          Problem problem(
              {.m = 10, .n = 37, .k = k, .bias = true, .residual = true, .activation = {op, alpha, 2.0f}},
              seed++);
          problem.Check(problem.RunWhole());
        }
      }
    }
  });
}

TEST(GemmF32, AnyBlocksStitchedTogetherGiveTheSameBits) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 7;
    for (const FusedOp op : kAllActivations) {
      SCOPED_TRACE(::testing::Message() << "activation " << Name(op) << " seed " << seed);
      Problem problem(
          {.m = 61, .n = 101, .k = 530, .bias = true, .residual = true, .activation = {op, 0.25f, 2.0f}},
          seed);
      const std::vector<float> whole = problem.RunWhole();
      const GemmPlan plan = PlanGemm(101, 530);
      RandomData random(++seed);
      for (int round = 0; round < 3; ++round) {
        std::vector<float> c = problem.Blank();
        for (int64_t r = 0; r < 61;) {
          const int64_t r_end = std::min<int64_t>(61, r + random.Int(1, 20));
          for (int64_t p = 0; p < plan.panels;) {
            const int64_t p_end = std::min(plan.panels, p + random.Int(1, 3));
            problem.Run(plan, {r, r_end}, {p, p_end}, c);
            p = p_end;
          }
          r = r_end;
        }
        ASSERT_EQ(c, whole);
      }
    }
  });
}

TEST(GemmF32, EveryTileWidthGivesTheSameBits) {
  OnEveryTarget([](const std::string& target) {
    for (const int64_t n : {5, 100, 333}) {
      constexpr int64_t kRows = 29, kLength = 3000;  // sums in several chunks
      RandomData random(3);
      const std::vector<float> a = random.Floats(kRows * kLength), b = random.Floats(kLength * n);
      std::vector<float> first;
      for (const int64_t width : GemmTileWidths(n)) {
        const GemmPlan plan = PlanGemm(n, kLength, width);
        std::vector<float> packed(PackedGemmBytes(plan) / sizeof(float)), c(kRows * n);
        PackGemm(plan, {.b = b.data(), .stride = n}, {0, plan.panels}, packed.data());
        RunGemm(plan, a.data(), kLength, packed.data(), {}, {0, kRows}, {0, plan.panels}, c.data(), n);
        if (first.empty()) first = c;
        EXPECT_EQ(c, first) << target << ", " << n << " columns, tiles of " << width;
      }
    }
  });
}

// Returns tiles of all sizes, including sizes that no target has.
std::vector<Tile> AllTiles() {
  std::vector<Tile> tiles;
  for (const int64_t rows : {0, 1, 4, 7, 100})
    for (const bool half : {false, true}) tiles.push_back({rows, half});
  return tiles;
}

// All tiles read the same packed weights. The cases have whole panels and panels that end within a vector,
// and sums in one chunk and in several.
TEST(GemmF32, EveryTileOverTheSamePanelsGivesTheSameBits) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 300;
    for (const FusedOp op : kAllActivations)
      for (const int64_t k : {9, 1300}) {
        SCOPED_TRACE(::testing::Message() << "activation " << Name(op) << " k " << k << " seed " << seed);
        Problem problem({.m = 13,
                         .n = 118,
                         .k = k,
                         .bias = true,
                         .residual = seed % 2 == 1,
                         .activation = {op, 0.25f, 2.0f}},
                        seed);
        ++seed;
        const std::vector<float> largest = problem.RunWhole();
        problem.Check(largest);
        GemmPlan plan = PlanGemm(118, k);
        for (const Tile& tile : AllTiles()) {
          plan.tile = tile;
          std::vector<float> c = problem.Blank();
          problem.Run(plan, {0, 13}, {0, plan.panels}, c);
          ASSERT_EQ(c, largest) << "rows " << tile.rows << ", half " << tile.half;
        }
      }
  });
}

// Two clusters of cores compute a product like this: blocks have any rows and panels, and each block runs
// with the tile of the cluster that takes it.
TEST(GemmF32, BlocksOfTwoTilesStitchedTogetherGiveTheSameBits) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 400; seed < 412; ++seed) {
      RandomData random(seed);
      const Case c = {.m = random.Int(5, 60),
                      .n = random.Int(1, 300),
                      .k = random.Int(1, 700),
                      .transposed = seed % 2 == 0,
                      .bias = true,
                      .residual = true,
                      .activation = {FusedOp::kSwish, 1}};
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << c.m << "x" << c.n << "x" << c.k);
      Problem problem(c, seed);
      const std::vector<float> whole = problem.RunWhole();
      GemmPlan plan = PlanGemm(c.n, c.k);
      const std::vector<Tile> tiles = GemmTiles(plan, c.m);
      std::vector<float> out = problem.Blank();
      for (int64_t p = 0, r_end; p < plan.panels; ++p)
        for (int64_t r = 0; r < c.m; r = r_end) {
          r_end = std::min(c.m, r + random.Int(1, 20));
          plan.tile = tiles[size_t(random.Int(0, std::ssize(tiles) - 1))];
          problem.Run(plan, {r, r_end}, {p, p + 1}, out);
        }
      ASSERT_EQ(out, whole);
    }
  });
}

TEST(GemmF32, TilesToChooseFromDifferAndTheLargestComesFirst) {
  OnEveryTarget([](const std::string& target) {
    for (const int64_t n : {1, 40, 64, 118, 1000}) {
      const GemmPlan plan = PlanGemm(n, 10);
      const std::vector<Tile> tiles = GemmTiles(plan, 100);
      ASSERT_GE(tiles.size(), 2u) << target;
      EXPECT_EQ(tiles[0], Tile());
      const TileSize largest = SizeOf(plan, {});
      for (size_t i = 1; i < tiles.size(); ++i) {
        const TileSize size = SizeOf(plan, tiles[i]);
        EXPECT_TRUE(size.rows < largest.rows || size.vectors < largest.vectors)
            << target << ", " << n << " columns";
      }
      for (const Tile& tile : GemmTiles(plan, 3))
        EXPECT_EQ(tile.rows, 0) << "three rows are few for any tile";
    }
  });
}

TEST(GemmF32, TileWidthsDivideTheColumnsDifferently) {
  OnEveryTarget([](const std::string&) {
    EXPECT_EQ(GemmTileWidths(1).size(), 1u);
    for (const int64_t n : {1, 64, 100, 1000}) {
      const std::vector<int64_t> widths = GemmTileWidths(n);
      for (size_t i = 1; i < widths.size(); ++i)
        EXPECT_GT(PlanGemm(n, 4, widths[i]).panels, PlanGemm(n, 4, widths[i - 1]).panels);
    }
  });
}

TEST(GemmF32, PanelsMayBePackedSeparately) {
  const GemmPlan plan = PlanGemm(100, 11);
  const std::vector<float> b = RandomData(3).Floats(1100);
  std::vector<float> once(PackedGemmBytes(plan) / sizeof(float)), apart(once.size());
  PackGemm(plan, {.b = b.data(), .stride = 100, .scale = 2}, {0, plan.panels}, once.data());
  for (int64_t p = plan.panels; p-- > 0;)
    PackGemm(plan, {.b = b.data(), .stride = 100, .scale = 2}, {p, p + 1}, apart.data());
  EXPECT_EQ(once, apart);
}

TEST(GemmF32, APlanKeepsItsTargetWhenAnotherIsForced) {
  const GemmPlan plan = PlanGemm(8, 8);
  const std::string target = TargetOf(plan);
  ForceTarget(AvailableTargets().back());  // the same target if there is only one
  EXPECT_EQ(TargetOf(plan), target);
  ForceTarget("");
}

}  // namespace
}  // namespace mete
