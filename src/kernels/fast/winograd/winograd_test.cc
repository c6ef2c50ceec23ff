#include "kernels/fast/winograd/winograd.h"

#include <gtest/gtest.h>

#include <array>

#include "kernels/fast/conv/conv_oracle.h"
#include "kernels/fast/winograd/matrices.h"

namespace mete {
namespace {

using Square = std::array<std::array<double, 8>, 8>;

// Returns left middle left^T, where every element of `left` is replaced by term(element).
template <class Matrix, class Term>
Square Around(const Matrix& left, const Square& middle, const Term& term) {
  Square half = {}, whole = {};
  const size_t rows = std::size(left), inner = std::size(left[0]);
  for (size_t i = 0; i < rows; ++i)
    for (size_t k = 0; k < inner; ++k)
      for (size_t j = 0; j < inner; ++j) half[i][j] += term(left[i][k]) * middle[k][j];
  for (size_t i = 0; i < rows; ++i)
    for (size_t k = 0; k < inner; ++k)
      for (size_t j = 0; j < rows; ++j) whole[i][j] += half[i][k] * term(left[j][k]);
  return whole;
}

class Problem : public ConvProblem {
 public:
  Problem(const ConvShape& shape, int m, FusedOp op, uint32_t seed)
      : ConvProblem(shape, op, seed), plan_(PlanWinograd(shape, m)) {
    EXPECT_STREQ(TargetOf(plan_), ActiveTarget());
    packed_.assign(PackedWinogradBytes(plan_) / sizeof(float), NAN);
    PackWinograd(plan_, weights(), {0, plan_.panels}, packed_.data());
    scratch_.assign(WinogradScratchBytes(plan_) / sizeof(float), NAN);
  }

  WinogradPlan& plan() { return plan_; }
  void Run(const Epilogue& epilogue, Range tiles, Range panels, std::vector<float>& out) {
    RunWinograd(plan_, input(), packed_.data(), epilogue, tiles, panels, out.data(), scratch_.data());
  }
  std::vector<float> RunWhole(const Epilogue& epilogue) {
    std::vector<float> out = Blank();
    Run(epilogue, {0, plan_.tiles}, {0, plan_.panels}, out);
    return out;
  }
  std::vector<float> RunWhole() { return RunWhole(epilogue()); }

  // Returns the bound that winograd.h states, for every output before bias and residual, as [pixel][channel].
  std::vector<double> Bounds() const {
    const ConvShape& s = shape();
    std::vector<double> bounds(static_cast<size_t>(s.out_pixels() * s.out_channels));
    const double roundings = static_cast<double>(s.in_channels + 4 * (plan_.tile + 2) + 2);
    const double unit = std::sqrt(roundings) * std::numeric_limits<float>::epsilon() / 2;
    for (int64_t tile = 0; tile < plan_.tiles; ++tile) {
      const std::vector<Square> inputs = InputsOf(tile);
      for (int64_t m = 0; m < s.out_channels; ++m) {
        const Square magnitude = Magnitude(inputs, m);
        ForPixels(tile, [&](int y, int x, int64_t pixel) {
          bounds[static_cast<size_t>(pixel * s.out_channels + m)] = unit * std::sqrt(magnitude[y][x]);
        });
      }
    }
    return bounds;
  }

  // Checks the outputs after bias, residual and activation. Activations amplify an error by at most 1.13
  // (Swish, Gelu, Mish).
  void CheckWithin(const std::vector<float>& out, const std::vector<double>& bounds) const {
    Check(out, [&](int64_t p, int64_t m, const Sums& sums) {
      return 1.2 * bounds[static_cast<size_t>(p * shape().out_channels + m)] +
             SumTolerance(2, std::abs(sums.sum) + 2);
    });
  }

 private:
  template <class F>
  void ForPixels(int64_t tile, const F& f) const {
    const ConvShape& s = shape();
    const int64_t image = tile / (plan_.tile_rows * plan_.tile_columns), m = plan_.tile;
    const int64_t top = tile / plan_.tile_columns % plan_.tile_rows * m, left = tile % plan_.tile_columns * m;
    for (int y = 0; y < m && top + y < s.out_height; ++y)
      for (int x = 0; x < m && left + x < s.out_width; ++x)
        f(y, x, (image * s.out_height + top + y) * s.out_width + left + x);
  }

  // Returns |B^T| |d| |B| for every channel of a tile.
  std::vector<Square> InputsOf(int64_t tile) const {
    const ConvShape& s = shape();
    const int64_t stride = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels, m = plan_.tile;
    const int64_t image = tile / (plan_.tile_rows * plan_.tile_columns);
    const int64_t top = tile / plan_.tile_columns % plan_.tile_rows * m - s.pad_top,
                  left = tile % plan_.tile_columns * m - s.pad_left;
    std::vector<Square> inputs;
    for (int64_t c = 0; c < s.in_channels; ++c) {
      Square d = {};
      for (int64_t y = std::max<int64_t>(0, -top); y < m + 2 && top + y < s.in_height; ++y)
        for (int64_t x = std::max<int64_t>(0, -left); x < m + 2 && left + x < s.in_width; ++x)
          d[y][x] = std::abs(
              double{input()[((image * s.in_height + top + y) * s.in_width + left + x) * stride + c]});
      const auto around = [&](auto matrices) {
        return Around(matrices.kInput, d, [](double a) { return std::abs(a); });
      };
      inputs.push_back(WithWinograd(plan_.tile, around));
    }
    return inputs;
  }

  // Returns the sum under the square root of the bound, for every output of a tile.
  Square Magnitude(const std::vector<Square>& inputs, int64_t channel) const {
    return WithWinograd(plan_.tile, [&](auto matrices) {
      Square products = {};
      for (size_t c = 0; c < inputs.size(); ++c) {
        Square g = {};
        for (int i = 0; i < 9; ++i)
          g[i / 3][i % 3] = weights()[(channel * shape().in_channels + static_cast<int64_t>(c)) * 9 + i];
        const Square u = Around(matrices.kWeights, g, [](double a) { return a; });
        for (int i = 0; i < 64; ++i)
          products[i / 8][i % 8] += std::abs(u[i / 8][i % 8]) * inputs[c][i / 8][i % 8];
      }
      for (auto& row : products)
        for (double& p : row) p *= p;
      return Around(matrices.kOutput, products, [](double a) { return a * a; });
    });
  }

  WinogradPlan plan_;
  std::vector<float> packed_, scratch_;
};

ConvShape Three(int64_t batch, int64_t h, int64_t w, int64_t c, int64_t n, int64_t pad_top,
                int64_t pad_left) {
  return Sized({batch, h, w, c, 1, 1, n, 3, 3, 1, 1, 1, 1, pad_top, pad_left, 1}, pad_top, pad_left);
}

// Returns shapes with sizes that are not multiples of a tile, channels that are not multiples of a vector or
// a panel, and paddings of 0, 1 and 2.
std::vector<ConvShape> Shapes() {
  std::vector<ConvShape> shapes = {
      Three(1, 3, 3, 1, 1, 0, 0),
      Three(1, 1, 1, 3, 5, 1, 1),
      Three(1, 5, 7, 3, 8, 1, 1),
      Three(2, 9, 6, 17, 33, 1, 1),
      Three(1, 12, 12, 16, 32, 1, 1),
      Three(1, 14, 13, 20, 37, 0, 0),
      Three(2, 7, 8, 33, 70, 2, 2),
      Three(1, 4, 19, 5, 6, 2, 0),
      Three(1, 8, 8, 300, 9, 1, 1),
      Three(3, 26, 3, 8, 65, 0, 1),
      Sized({1, 7, 6, 10, 1, 1, 14, 3, 3, 1, 1, 1, 1, 1, 0, 1}, 2, 0),
  };
  shapes.push_back(Three(1, 15, 6, 10, 14, 1, 1));
  shapes.back().in_pixel_stride = 13;
  shapes.back().out_pixel_stride = 19;
  return shapes;
}

class WinogradF32 : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Tiles, WinogradF32, ::testing::Values(2, 4, 6));

TEST_P(WinogradF32, OddShapesStayWithinTheStatedBound) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 1;
    for (const ConvShape& shape : Shapes()) {
      SCOPED_TRACE(::testing::Message() << "shape " << seed - 1 << " seed " << seed);
      Problem problem(shape, GetParam(), FusedOp::kRelu, seed);
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
        Problem problem(Three(1, 7, 9, 6, 35, 1, 1), GetParam(), op, seed++);
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
      Problem problem(s, GetParam(), FusedOp::kClip, seed);
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
      Problem problem(Three(1, 12, 12, channels, 32, 1, 1), GetParam(), FusedOp::kNone, 7);
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
    for (const ConvShape& shape : Shapes()) {
      ++seed;
      Problem problem(shape, GetParam(), kAllActivations[seed % std::size(kAllActivations)], seed);
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
