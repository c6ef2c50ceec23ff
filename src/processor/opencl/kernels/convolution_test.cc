#include "processor/opencl/kernels/convolution.h"

#include <gtest/gtest.h>

#include "kernels/fast/conv/conv_oracle.h"
#include "mete/error.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

std::vector<Tile> TilesOf(const ConvSpec& spec) {
  std::vector<Tile> tiles;
  for (const TileDevice& device : {TileDevice{true, 16}, TileDevice{true, 8}, TileDevice{false, 4}}) {
    const std::vector<Tile> of_device = ConvTiles(spec, device);
    tiles.insert(tiles.end(), of_device.begin(), of_device.end());
  }
  return tiles;
}

constexpr float kBlank = -77;  // ConvProblem's
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Convolution : public WithQueue {
 protected:
  // Computes the problem with a tile and returns the output.
  std::vector<float> Compute(const ConvProblem& problem, const ConvSpec& spec, const Tile& tile) {
    SCOPED_TRACE(ToString(tile));
    const ConvShape& s = spec.shape;
    const Epilogue& e = problem.epilogue();
    const std::vector<float> blank = problem.Blank(), begin = Behind(spec.output_first, kBlank, blank);
    const std::vector<float> values = Behind(spec.input_first, kNan, {problem.input(), problem.inputs()});
    const Buffer input = Make(spec.input, values);
    const int64_t weights = s.out_channels * s.in_channels / s.groups * s.kernel_height * s.kernel_width;
    const Buffer weights_in = Make(DType::kF32, {problem.weights(), size_t(weights)});
    const Buffer bias = Make(DType::kF32, {e.bias, size_t(s.out_channels)});
    Buffer residual, output = Make(spec.output, begin);
    if (spec.residual) residual = Make(spec.output, {e.residual, blank.size()});
    const Buffer packed = Blank(PackedSizes(spec, tile).bytes);
    Run(PackKernel(spec, tile, OnnxWeights(s, true)), {&weights_in, &bias, &packed});
    Run(ConvKernel(spec, tile), {&input, &packed, spec.residual ? &residual : nullptr, &output});
    return SliceFrom(spec.output_first, kBlank, Read(output, spec.output));
  }

  static ConvSpec SpecOf(const ConvProblem& problem) {
    ConvSpec spec;
    spec.shape = problem.shape();
    spec.activation = problem.epilogue().activation;
    spec.residual = problem.epilogue().residual != nullptr;
    spec.residual_stride = spec.shape.out_pixel_stride;
    return spec;
  }
};

float RoundToF16(float x) { return F16ToF32(F32ToF16(x)); }

// Values of f16 are rounded by at most 2^-11 of them, the output and the residual; the slope of an activation
// is below 1.2.
void CheckHalves(const ConvProblem& problem, const std::vector<float>& out) {
  const ConvShape& s = problem.shape();
  const int64_t k = s.in_channels / s.groups * s.kernel_height * s.kernel_width;
  problem.Check(out, [&](int64_t, int64_t, const ConvProblem::Sums& sums) {
    return SumTolerance(k + 2, sums.magnitude + 2) + 0x1p-11 * 1.2 * (sums.magnitude + 2);
  });
}

// Compiling takes most of the time, so each shape has some of the tiles, and all shapes have all.
std::vector<Tile> SomeTiles(const ConvSpec& spec, uint32_t seed, size_t count) {
  const std::vector<Tile> tiles = TilesOf(spec);
  std::vector<Tile> some;
  for (size_t i = 0; i < count; ++i) some.push_back(tiles[(seed * count + i * 7) % tiles.size()]);
  return some;
}

TEST_F(Convolution, OddShapesMatchTheSumInDouble) {
  uint32_t seed = 0;
  for (const ConvShape& shape : OddConvShapes()) {
    ++seed;
    const ConvProblem problem(shape, kAllActivations[seed % std::size(kAllActivations)], seed);
    const ConvSpec spec = SpecOf(problem);
    for (const Tile& tile : SomeTiles(spec, seed, 2)) {
      SCOPED_TRACE("shape " + std::to_string(seed) + " tile " + ToString(tile));
      problem.Check(Compute(problem, spec, tile));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(Convolution, EachFormOfTileMatchesTheSumInDouble) {
  // Tiles within the image, at both edges and above one another; 37 channels fill no tile.
  const ConvShape shape = Sized({1, 6, 31, 7, 1, 1, 37, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1);
  const ConvProblem problem(shape, FusedOp::kClip, 3);
  const ConvSpec spec = SpecOf(problem);
  const std::vector<Tile> tiles = TilesOf(spec);
  for (size_t i = 0; i < tiles.size();
       i += 2) {  // of a CPU's tiles the two orders of work-items are neighbours
    problem.Check(Compute(problem, spec, tiles[i]));
    if (HasFatalFailure()) FAIL() << ToString(tiles[i]);
  }
}

TEST_F(Convolution, HalvesInMemoryAreSummedInF32) {
  uint32_t seed = 0;
  const std::vector<ConvShape> shapes = OddConvShapes();
  for (size_t i : {2u, 4u, 6u, 12u}) {
    ++seed;
    const ConvProblem problem(shapes[i], FusedOp::kSwish, seed, RoundToF16);
    ConvSpec spec = SpecOf(problem);
    spec.input = spec.weights = spec.output = DType::kF16;
    for (const Tile& tile : SomeTiles(spec, seed, 2)) {
      SCOPED_TRACE("shape " + std::to_string(i) + " tile " + ToString(tile));
      CheckHalves(problem, Compute(problem, spec, tile));
      if (HasFatalFailure()) return;
    }
    spec.input = DType::kF32;  // each of the three may be another type than the others
    CheckHalves(problem, Compute(problem, spec, SomeTiles(spec, seed, 1)[0]));
    if (HasFatalFailure()) return;
  }
}

TEST_F(Convolution, EachActivationIsItsFunction) {
  for (FusedOp op : kAllActivations) {
    const ConvProblem problem(Sized({1, 1, 30, 4, 1, 1, 9, 1, 1, 1, 1, 1, 1, 0, 0, 1}, 0, 0), op, 2);
    const ConvSpec spec = SpecOf(problem);
    problem.Check(Compute(problem, spec, SomeTiles(spec, 1, 1)[0]));
    if (HasFatalFailure()) FAIL() << Name(op);
  }
}

TEST_F(Convolution, ASliceOfAConcatenationIsReadAndWritten) {
  uint32_t seed = 0;
  for (int64_t kernel : {1, 3}) {
    for (DType type : {DType::kF32, DType::kF16}) {
      ++seed;
      const int64_t pad = kernel / 2;
      const ConvShape shape =
          Sized({2, 5, 6, 10, 1, 1, 14, kernel, kernel, 1, 1, 1, 1, pad, pad, 1, 17, 23}, pad, pad);
      const ConvProblem problem(shape, FusedOp::kRelu, seed, RoundToF16);
      ConvSpec spec = SpecOf(problem);
      spec.input = spec.weights = spec.output = type;
      spec.input_first = 5;
      spec.output_first = 9;
      for (const Tile& tile : SomeTiles(spec, seed, 2)) {
        CheckHalves(problem, Compute(problem, spec, tile));
        if (HasFailure()) FAIL() << "kernel " << kernel << " tile " << ToString(tile);
      }
    }
  }
}

// Computes y = scale * a b of a batch, where `from` says how b lies in memory, and checks it against double.
class Product : public WithQueue {
 protected:
  void Check(int64_t batch, int64_t m, int64_t n, int64_t k, bool transposed, bool weights_per_image) {
    RandomData random(static_cast<uint32_t>(m + n + k));
    ConvSpec spec;
    spec.shape = SizedProduct(batch, m, n, k);
    spec.weights_per_image = weights_per_image;
    spec.scale = 0.25f;
    const std::vector<float> a = random.Floats(batch * m * k),
                             b = random.Floats((weights_per_image ? batch : 1) * k * n);
    const std::vector<Tile> tiles = TilesOf(spec);
    for (size_t i = 0; i < tiles.size(); i += 5) {
      const Tile& tile = tiles[i];
      const Buffer input = Make(DType::kF32, a), weights = Make(DType::kF32, b);
      const Buffer packed = Blank(PackedSizes(spec, tile).bytes), output = Blank(batch * m * n * 4);
      Run(PackKernel(spec, tile, transposed ? RowsOfN(k, n, false) : RowsOfK(k, n, false)),
          {&weights, &packed});
      Run(ConvKernel(spec, tile), {&input, &packed, &output});
      const std::vector<float> y = Read(output, DType::kF32);
      for (int64_t at = 0; at < batch * m * n; ++at) {
        const int64_t image = at / (m * n), row = at / n, column = at % n;
        double sum = 0, magnitude = 0;
        for (int64_t step = 0; step < k; ++step) {
          const int64_t base = weights_per_image ? image * k * n : 0;
          const double product = double{a[size_t(row * k + step)]} *
                                 b[size_t(base + (transposed ? column * k + step : step * n + column))];
          sum += product;
          magnitude += std::abs(product);
        }
        ASSERT_NEAR(y[size_t(at)], 0.25 * sum, 0.25 * SumTolerance(k, magnitude))
            << ToString(tile) << " at " << at;
      }
    }
  }
};

TEST_F(Product, OfOneMatrix) { Check(1, 37, 45, 19, false, false); }
TEST_F(Product, OfARow) { Check(1, 1, 133, 70, true, false); }
TEST_F(Product, OfABatchWithOneMatrix) { Check(3, 5, 20, 33, false, false); }
TEST_F(Product, OfABatchWithMatricesOfItsOwn) { Check(3, 9, 20, 33, false, true); }
TEST_F(Product, OfABatchWithTransposedMatricesOfItsOwn) { Check(2, 17, 37, 8, true, true); }

TEST_F(Product, ImagesMayLieApart) {
  // Rows of heads side by side: a [m][heads][k], y [m][heads][n], b [heads][k][n].
  constexpr int64_t kHeads = 3, kM = 11, kN = 10, kK = 6;
  ConvSpec spec;
  spec.shape = SizedProduct(kHeads, kM, kN, kK);
  spec.weights_per_image = true;
  spec.shape.in_pixel_stride = kHeads * kK;
  spec.shape.out_pixel_stride = kHeads * kN;
  spec.input_image = kK;
  spec.output_image = kN;
  RandomData random(4);
  const std::vector<float> a = random.Floats(kM * kHeads * kK), b = random.Floats(kHeads * kK * kN);
  for (const TileDevice& device : {TileDevice{true, 8}, TileDevice{false, 4}}) {
    const Tile tile = ConvTiles(spec, device)[0];
    const Buffer input = Make(DType::kF32, a), weights = Make(DType::kF32, b),
                 packed = Blank(PackedSizes(spec, tile).bytes), output = Blank(kM * kHeads * kN * 4);
    Run(PackKernel(spec, tile, RowsOfK(kK, kN, false)), {&weights, &packed});
    Run(ConvKernel(spec, tile), {&input, &packed, &output});
    const std::vector<float> y = Read(output, DType::kF32);
    for (int64_t i = 0; i < kM * kHeads * kN; ++i) {
      const int64_t row = i / kN, head = row % kHeads, column = i % kN;
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < kK; ++k) {
        const double product = double{a[size_t(row * kK + k)]} * b[size_t((head * kK + k) * kN + column)];
        sum += product;
        magnitude += std::abs(product);
      }
      ASSERT_NEAR(y[size_t(i)], sum, SumTolerance(kK, magnitude)) << ToString(tile) << " at " << i;
    }
  }
}

TEST(KernelText, DigestsDifferIfAnythingDoes) {
  const ConvSpec spec{.shape = SizedProduct(1, 16, 32, 8)};
  const Tile tile{.columns = 4};
  const KernelText text = ConvKernel(spec, tile);
  EXPECT_EQ(DigestOf(text), DigestOf(ConvKernel(spec, tile)));
  KernelText other = text;
  other.items[0] += 1;
  EXPECT_NE(DigestOf(text), DigestOf(other));
  EXPECT_NE(DigestOf(text), DigestOf(ConvKernel(spec, {.columns = 8})));
  EXPECT_NE(DigestOf(text), DigestOf(ConvKernel({.shape = SizedProduct(1, 16, 32, 9)}, tile)));
}

TEST(KernelText, TooManyElementsAndTilesThatDoNotFitAreRefused) {
  EXPECT_THROW(ConvKernel({.shape = SizedProduct(1, 1 << 20, 1 << 12, 8)}, {}), Error);
  EXPECT_THROW(ConvKernel({.shape = SizedProduct(1, 3, 8, 8)}, {.columns = 4}), Error);
  EXPECT_THROW(ConvKernel({.shape = SizedProduct(1, 3, 8, 8), .input = DType::kI64}, {}), Error);
}

}  // namespace
}  // namespace mete::opencl
