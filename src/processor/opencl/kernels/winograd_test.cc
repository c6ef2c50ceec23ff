#include "processor/opencl/kernels/winograd.h"

#include <gtest/gtest.h>

#include "kernels/fast/winograd/winograd_oracle.h"
#include "mete/error.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

class Winograd : public WithQueue {
 protected:
  // Computes the problem in parts of at most `part` tiles.
  std::vector<float> Compute(const WinogradProblem& problem, WinogradSpec spec, int64_t part,
                             size_t tile_at) {
    const ConvShape& s = spec.conv.shape;
    const Epilogue& e = problem.epilogue();
    const std::vector<float> blank = problem.Blank();
    const Buffer input = Make(spec.conv.input, {problem.input(), problem.inputs()});
    const Buffer weights = Make(DType::kF32, {problem.weights(), size_t(9 * s.in_channels * s.out_channels)});
    const Buffer bias = Make(DType::kF32, {e.bias, size_t(s.out_channels)});
    Buffer residual, output = Make(spec.conv.output, blank);
    if (spec.conv.residual) residual = Make(spec.conv.output, {e.residual, blank.size()});
    const int64_t all = WinogradTiles(s, spec.m), positions = (spec.m + 2) * (spec.m + 2);
    for (int64_t first = 0; first < all; first += part) {
      spec.first_tile = first;
      spec.tiles = std::min(part, all - first);
      const ConvSpec product = WinogradProduct(spec);
      const std::vector<Tile> tiles = ConvTiles(product, {true, 16});
      const Tile& tile = tiles[tile_at % tiles.size()];
      const Buffer packed = Blank(PackedSizes(product, tile).bytes),
                   transformed = Blank(positions * spec.tiles * s.in_channels * 4),
                   products = Blank(positions * spec.tiles * s.out_channels * 4);
      Run(WinogradPackKernel(spec, tile), {&weights, &packed});
      Run(WinogradInputKernel(spec, 16), {&input, &transformed});
      Run(ConvKernel(product, tile), {&transformed, &packed, &products});
      Run(WinogradOutputKernel(spec, 16),
          {&products, &bias, spec.conv.residual ? &residual : nullptr, &output});
    }
    return Read(output, spec.conv.output);
  }

  static WinogradSpec SpecOf(const WinogradProblem& problem, int m) {
    WinogradSpec spec{.bias = true, .m = m};
    spec.conv.shape = problem.shape();
    spec.conv.activation = problem.epilogue().activation;
    spec.conv.residual = problem.epilogue().residual != nullptr;
    spec.conv.residual_stride = problem.shape().out_pixel_stride;
    return spec;
  }
};

TEST_F(Winograd, OddShapesStayWithinTheBoundOfTheCpu) {
  uint32_t seed = 0;
  const std::vector<ConvShape> shapes = WinogradShapes();
  for (size_t i : {1u, 3u, 6u, 9u, 11u}) {  // the others add little and compile long
    const ConvShape& shape = shapes[i];
    ++seed;
    const int m = seed % 3 ? 4 : 2;
    SCOPED_TRACE(testing::Message() << "seed " << seed << " m " << m);
    const WinogradProblem problem(shape, m, seed % 2 ? FusedOp::kRelu : FusedOp::kSwish, seed);
    problem.CheckWithin(Compute(problem, SpecOf(problem, m), 1 << 20, seed), problem.Bounds());
    if (HasFatalFailure()) return;
  }
}

TEST_F(Winograd, PartsOfTheTilesGiveTheSameBits) {
  const ConvShape shape = Three(2, 9, 6, 17, 33, 1, 1);
  const WinogradProblem problem(shape, 4, FusedOp::kRelu, 3);
  const WinogradSpec spec = SpecOf(problem, 4);
  EXPECT_EQ(Compute(problem, spec, 5, 0), Compute(problem, spec, 100, 0));
}

TEST_F(Winograd, HalvesInMemoryAreTransformedInF32) {
  const auto round = [](float x) { return F16ToF32(F32ToF16(x)); };
  const WinogradProblem problem(Three(1, 9, 7, 12, 20, 1, 1), 4, FusedOp::kRelu, 2, round);
  WinogradSpec spec = SpecOf(problem, 4);
  spec.conv.input = spec.conv.output = DType::kF16;
  const std::vector<double> bounds = problem.Bounds();
  problem.Check(Compute(problem, spec, 100, 0), [&](int64_t p, int64_t m, const ConvProblem::Sums& sums) {
    return bounds[size_t(p * 20 + m)] + SumTolerance(2, sums.magnitude) + 0x1p-11 * (std::abs(sums.sum) + 1);
  });
}

TEST(WinogradText, TheChoiceNeedsTilesAndChannels) {
  const auto choice = [](int64_t size, int64_t channels) {
    return ChooseWinograd({.shape = Three(1, size, size, channels, 64, 1, 1)});
  };
  EXPECT_EQ(choice(56, 64), 4);
  EXPECT_EQ(choice(14, 256), 2);
  EXPECT_EQ(choice(3, 256), 0);
  EXPECT_EQ(choice(224, 3), 0);
  EXPECT_EQ(ChooseWinograd({.shape = SizedProduct(1, 1000, 64, 64)}), 0);
}

TEST(WinogradText, OtherConvolutionsAndTilesAreRefused) {
  WinogradSpec spec{.tiles = 4};
  spec.conv.shape = Three(1, 8, 8, 4, 4, 1, 1);
  EXPECT_NO_THROW(WinogradInputKernel(spec, 4));
  spec.first_tile = 1;
  EXPECT_THROW(WinogradInputKernel(spec, 4), Error);
  spec.first_tile = 0;
  spec.m = 6;
  EXPECT_THROW(WinogradInputKernel(spec, 4), Error);
  spec.m = 4;
  spec.conv.shape.stride_x = 2;
  EXPECT_THROW(WinogradOutputKernel(spec, 4), Error);
}

}  // namespace
}  // namespace mete::opencl
