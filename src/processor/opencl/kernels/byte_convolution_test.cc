#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/fast/conv/conv_oracle.h"
#include "mete/error.h"
#include "processor/opencl/kernels/convolution.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

// A convolution of random bytes, and its sums in integers.
struct ByteProblem {
  ByteProblem(const ConvShape& shape, DType input, DType output, DType weights, uint32_t seed)
      : random(seed) {
    spec.shape = shape;
    spec.input = input;
    spec.output = output;
    weights_type = weights;
    weight_zero = weights == DType::kU8 ? 128 : 0;
    spec.weights = DType::kI8;
    const int64_t taps = shape.kernel_height * shape.kernel_width, group = shape.in_channels / shape.groups;
    x = Bytes(input, shape.batch * shape.in_height * shape.in_width *
                         std::max(shape.in_pixel_stride, shape.in_channels));
    w = Bytes(weights, shape.out_channels * group * taps);
    for (int64_t m = 0; m < shape.out_channels; ++m) {
      scale.push_back(random.Floats(1, 0.002f)[0]);
      bias.push_back(int32_t(random.Int(-3000, 3000)));
    }
    ByteSums bytes{.input_zero = int32_t(Bytes(input, 1)[0])};
    if (output != DType::kF32) bytes.output_zero = int32_t(Bytes(output, 1)[0]);
    bytes.least = float((output == DType::kI8 ? -128 : 0) - bytes.output_zero);
    bytes.most = bytes.least + 255;
    spec.bytes = bytes;
  }

  std::vector<float> Bytes(DType type, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& v : values) v = float(type == DType::kI8 ? random.Int(-128, 127) : random.Int(0, 255));
    return values;
  }

  int64_t Sum(int64_t p, int64_t m) const {
    const ConvShape& s = spec.shape;
    const int64_t n = p / (s.out_height * s.out_width), oy = p / s.out_width % s.out_height,
                  ox = p % s.out_width;
    const int64_t group = s.in_channels / s.groups, g = m / (s.out_channels / s.groups);
    const int64_t stride = std::max(s.in_pixel_stride, s.in_channels);
    int64_t sum = bias[size_t(m)];
    for (int64_t ky = 0; ky < s.kernel_height; ++ky)
      for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
        const int64_t y = oy * s.stride_y - s.pad_top + ky * s.dilation_y,
                      at = ox * s.stride_x - s.pad_left + kx * s.dilation_x;
        if (y < 0 || at < 0 || y >= s.in_height || at >= s.in_width) continue;
        for (int64_t c = 0; c < group; ++c)
          sum += (int64_t(x[size_t(((n * s.in_height + y) * s.in_width + at) * stride + g * group + c)]) -
                  spec.bytes->input_zero) *
                 (int64_t(w[size_t(((m * group + c) * s.kernel_height + ky) * s.kernel_width + kx)]) -
                  weight_zero);
      }
    return sum;
  }

  float Expected(int64_t p, int64_t m) const {
    const float v = float(Sum(p, m)) * scale[size_t(m)];
    if (spec.output == DType::kF32) return v;
    return std::clamp(std::nearbyint(v), spec.bytes->least, spec.bytes->most) +
           float(spec.bytes->output_zero);
  }

  RandomData random;
  ConvSpec spec;
  DType weights_type;
  int32_t weight_zero = 0;
  std::vector<float> x, w, scale;
  std::vector<int32_t> bias;
};

class ByteConvolution : public WithQueue {
 protected:
  std::vector<float> Compute(const ByteProblem& p, const Tile& tile) {
    const ConvSpec& spec = p.spec;
    const ConvShape& s = spec.shape;
    PackSource from = OnnxWeights(s, /*bias=*/true);
    from.type = p.weights_type;
    from.zero = p.weight_zero;
    const int64_t outputs = s.out_pixels() * std::max(s.out_pixel_stride, s.out_channels);
    const Buffer x = Make(spec.input, p.x), w = Make(p.weights_type, p.w), scale = Make(DType::kF32, p.scale),
                 bias = Make(std::as_bytes(std::span(p.bias))), packed = Blank(PackedSizes(spec, tile).bytes),
                 y = Make(spec.output, std::vector<float>(size_t(outputs), 77));
    Run(PackKernel(spec, tile, from), {&w, &scale, &bias, &packed});
    Run(ConvKernel(spec, tile), {&x, &packed, &y});
    return Read(y, spec.output);
  }

  // Checks that the bytes differ by at most `levels` from those of exact sums.
  void Check(const ByteProblem& p, const Tile& tile, float levels) {
    const ConvShape& s = p.spec.shape;
    const int64_t stride = std::max(s.out_pixel_stride, s.out_channels);
    const std::vector<float> y = Compute(p, tile);
    for (int64_t pixel = 0; pixel < s.out_pixels(); ++pixel)
      for (int64_t m = 0; m < stride; ++m) {
        const float expected = m < s.out_channels ? p.Expected(pixel, m) : 77;
        ASSERT_LE(std::abs(y[size_t(pixel * stride + m)] - expected), levels)
            << ToString(tile) << " pixel " << pixel << " channel " << m << " got "
            << y[size_t(pixel * stride + m)] << " expected " << expected;
      }
  }
};

struct Types {
  DType input, output, weights;
};
constexpr Types kTypes[] = {{DType::kU8, DType::kU8, DType::kI8},
                            {DType::kU8, DType::kU8, DType::kU8},
                            {DType::kI8, DType::kI8, DType::kI8},
                            {DType::kU8, DType::kF32, DType::kI8}};

TEST_F(ByteConvolution, WholeSumsGiveTheBytesOfExactSums) {
  const std::vector<ConvShape> shapes = OddConvShapes();
  uint32_t seed = 0;
  for (size_t i : {1u, 2u, 6u, 10u, 12u}) {  // K up to 5400
    const Types& types = kTypes[seed++ % std::size(kTypes)];
    ByteProblem problem(shapes[i], types.input, types.output, types.weights, seed);
    problem.spec.bytes->whole = true;
    const std::vector<Tile> tiles = ConvTiles(problem.spec, {seed % 2 == 0, 8});
    Check(problem, tiles[seed % tiles.size()], 0);
    if (HasFatalFailure()) FAIL() << "shape " << i;
  }
}

// Sums of at most 2^24 / 255 / 128 products are exact in f32.
TEST_F(ByteConvolution, ShortSumsInF32GiveTheBytesOfExactSums) {
  const std::vector<ConvShape> shapes = OddConvShapes();
  uint32_t seed = 10;
  for (size_t i : {0u, 4u, 7u, 13u}) {
    const Types& types = kTypes[seed++ % std::size(kTypes)];
    const ByteProblem problem(shapes[i], types.input, types.output, types.weights, seed);
    Check(problem, ConvTiles(problem.spec, {true, 16})[0], 0);
    if (HasFatalFailure()) FAIL() << "shape " << i;
  }
}

// Sums of 5400 positive products are about 4e7, above 2^24, where each multiply-add rounds by up to 2. Even
// 5400 such errors of one sign are 0.02 of a level of 2^19.
TEST_F(ByteConvolution, LongSumsInF32AreWithinALevel) {
  ByteProblem problem(OddConvShapes()[10], DType::kU8, DType::kU8, DType::kI8, 3);
  for (float& v : problem.w) v = std::abs(v) - float(v == -128);
  std::fill(problem.scale.begin(), problem.scale.end(), 0x1p-19f);
  Check(problem, ConvTiles(problem.spec, {true, 16})[0], 1);
}

TEST_F(ByteConvolution, WeightsBeyondBytesArePackedAsHalves) {
  ByteProblem problem(OddConvShapes()[2], DType::kU8, DType::kU8, DType::kU8, 4);
  problem.weight_zero = 3;
  problem.spec.weights = DType::kF16;
  problem.spec.bytes->whole = true;
  Check(problem, ConvTiles(problem.spec, {true, 16})[0], 0);
}

TEST(ByteConvolutionText, OtherTypesAndEpiloguesAreRefused) {
  ConvSpec spec{.shape = SizedProduct(1, 8, 8, 8),
                .input = DType::kU8,
                .weights = DType::kI8,
                .output = DType::kU8,
                .bytes = ByteSums{}};
  EXPECT_NO_THROW(ConvKernel(spec, {}));
  spec.residual = true;
  EXPECT_THROW(ConvKernel(spec, {}), Error);
  spec.residual = false;
  spec.weights = DType::kF32;
  EXPECT_THROW(ConvKernel(spec, {}), Error);
}

}  // namespace
}  // namespace mete::opencl
