// Bytes in kernels of maps, pools and depthwise convolutions; byte_convolution_test.cc has other
// convolutions.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/fast/bytes/byte_pool.h"
#include "kernels/fast/conv/conv_oracle.h"
#include "kernels/fast/pool/pool_testing.h"
#include "processor/opencl/kernels/map.h"
#include "processor/opencl/kernels/run_testing.h"
#include "processor/opencl/kernels/window.h"

namespace mete::opencl {
namespace {

std::vector<float> RandomBytes(RandomData& random, int64_t count, DType type) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = float(type == DType::kI8 ? random.Int(-128, 127) : random.Int(0, 255));
  return values;
}

class Bytes : public WithQueue {
 protected:
  std::vector<float> Map(const MapSpec& spec, std::initializer_list<const std::vector<float>*> inputs) {
    std::vector<Buffer> buffers;
    for (const std::vector<float>* values : inputs)
      buffers.push_back(Make(spec.inputs[buffers.size()].type, *values));
    int64_t count = 1;
    for (int64_t size : spec.sizes) count *= size;
    buffers.push_back(Blank(count * int64_t(SizeOf(spec.output.type))));
    std::vector<Argument> arguments;
    for (const Buffer& buffer : buffers) arguments.push_back(&buffer);
    Run(MapKernel(spec, 16), arguments);
    return Read(buffers.back(), spec.output.type);
  }
};

TEST_F(Bytes, LevelsAreRoundedToEvenBeforeTheZeroPoint) {
  const std::vector<float> x = {0.25f, 0.75f, 1.25f, -0.25f, 70, -9, std::numeric_limits<float>::quiet_NaN(),
                                3};
  MapSpec spec{.sizes = {8},
               .inputs = {{.strides = {1}}},
               .output = {.type = DType::kU8, .strides = {1}},
               .program = {},
               .levels = LevelConversion{.scale = 0.5f, .zero = 3}};
  EXPECT_EQ(Map(spec, {&x}), (std::vector<float>{3, 5, 5, 3, 143, 0, 0, 9}));
  spec.output.type = DType::kI8;
  spec.levels = LevelConversion{.kind = LevelConversion::Kind::kRescale,
                                .scale = 2,
                                .zero = -1,
                                .minus = 1,
                                .least = -128,
                                .most = 100};
  EXPECT_EQ(Map(spec, {&x}), (std::vector<float>{-3, -1, -1, -3, 100, -21, -128, 3}));
  spec.inputs[0].type = DType::kI8;
  spec.output.type = DType::kF16;
  spec.levels = LevelConversion{.kind = LevelConversion::Kind::kDequantize, .scale = 0.5f, .zero = -3};
  const std::vector<float> levels = {-128, -3, 0, 1, 2, 3, 4, 127};
  EXPECT_EQ(Map(spec, {&levels}), (std::vector<float>{-62.5, 0, 1.5, 2, 2.5, 3, 3.5, 65}));
}

TEST_F(Bytes, SumsAndProductsAreThoseOfTheCpu) {
  constexpr int64_t kRows = 5, kLength = 48;
  RandomData random(3);
  const ByteScale a{.scale = 0.03f, .zero = 120}, b{.scale = 0.021f, .zero = -7, .is_signed = true},
      y{.scale = 0.05f, .zero = 99};
  const std::vector<float> x = RandomBytes(random, kRows * kLength, DType::kU8),
                           z = RandomBytes(random, kLength, DType::kI8);
  const std::vector<std::byte> x_bytes = ToBytes(DType::kU8, x), z_bytes = ToBytes(DType::kI8, z);
  for (ByteBinary of : {MakeByteSum(a, b, y), MakeByteProduct(a, b, y)}) {
    of.least = 20;
    std::vector<uint8_t> expected(kRows * kLength);
    RunByteBinary(of,
                  {reinterpret_cast<const uint8_t*>(x_bytes.data()),
                   reinterpret_cast<const uint8_t*>(z_bytes.data()), kLength, 0, kLength},
                  {0, kRows}, expected.data());
    const MapSpec spec{
        .sizes = {kRows, kLength},
        .inputs = {{.type = DType::kU8, .strides = {kLength, 1}}, {.type = DType::kI8, .strides = {0, 1}}},
        .output = {.type = DType::kU8, .strides = {kLength, 1}},
        .program = {},
        .levels = of};
    EXPECT_EQ(Map(spec, {&x, &z}), (std::vector<float>(expected.begin(), expected.end())));
  }
}

TEST_F(Bytes, PoolsAreThoseOfTheCpu) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    const PoolShape shape = RandomPool(random, 40, seed);
    const ConvShape& s = shape.window;
    const DType type = seed % 2 ? DType::kU8 : DType::kI8;
    const std::vector<float> x =
        RandomBytes(random, s.batch * s.in_height * s.in_width * s.in_channels, type);
    const std::vector<std::byte> bytes = ToBytes(type, x);
    const auto* input = reinterpret_cast<const uint8_t*>(bytes.data());
    std::vector<uint8_t> expected(size_t(s.out_pixels() * s.out_channels));
    std::optional<BytePool> levels;
    if (shape.kind == PoolKind::kMax) {
      RunByteMaxPool(shape, type == DType::kI8, input, {0, s.out_pixels()}, expected.data());
    } else {
      levels = BytePool{.x_scale = 0.031f, .x_zero = 5, .y_scale = 0.022f, .y_zero = 9};
      RunByteAveragePool(shape, {levels->x_scale, levels->x_zero, type == DType::kI8},
                         {levels->y_scale, levels->y_zero, type == DType::kI8}, input, {0, s.out_pixels()},
                         expected.data());
    }
    const Buffer from = Make(type, x), to = Blank(int64_t(expected.size()));
    Run(PoolKernel(shape, type, 8, levels), {&from, &to});
    ASSERT_EQ(ReadAll<uint8_t>(to), expected);
  }
}

TEST_F(Bytes, DepthwiseSumsAreExact) {
  const ConvShape s = Sized({2, 8, 9, 21, 1, 1, 21, 3, 3, 2, 2, 1, 1, 1, 1, 21}, 1, 1);
  RandomData random(8);
  DepthwiseSpec spec{
      .shape = s, .input = DType::kU8, .weights = DType::kI8, .output = DType::kU8, .bias = true};
  spec.bytes = ByteSums{.input_zero = 77, .output_zero = 31, .least = -31, .most = 224};
  const std::vector<float> x = RandomBytes(random, 2 * 8 * 9 * 21, DType::kU8),
                           w = RandomBytes(random, 9 * 21, DType::kI8), scale = random.Floats(21, 0.002f);
  std::vector<int32_t> bias(21);
  for (int32_t& b : bias) b = int32_t(random.Int(-3000, 3000));
  const Buffer input = Make(DType::kU8, x), weights = Make(DType::kI8, w), scales = Make(DType::kF32, scale),
               starts = Make(std::as_bytes(std::span(bias))), output = Blank(s.out_pixels() * 21);
  Run(DepthwiseKernel(spec, 16, 3), {&input, &weights, &scales, &starts, &output});
  const std::vector<float> got = Read(output, DType::kU8);
  for (int64_t p = 0; p < s.out_pixels(); ++p)
    for (int64_t c = 0; c < 21; ++c) {
      const int64_t n = p / (s.out_height * s.out_width), oy = p / s.out_width % s.out_height,
                    ox = p % s.out_width;
      int64_t sum = bias[size_t(c)];
      for (int64_t ky = 0; ky < 3; ++ky)
        for (int64_t kx = 0; kx < 3; ++kx) {
          const int64_t iy = oy * 2 - 1 + ky, ix = ox * 2 - 1 + kx;
          if (iy < 0 || ix < 0 || iy >= 8 || ix >= 9) continue;
          sum += (int64_t(x[size_t(((n * 8 + iy) * 9 + ix) * 21 + c)]) - 77) *
                 int64_t(w[size_t((ky * 3 + kx) * 21 + c)]);
        }
      const float steps = std::nearbyint(float(sum) * scale[size_t(c)]);
      ASSERT_EQ(got[size_t(p * 21 + c)], std::clamp(steps, -31.f, 224.f) + 31)
          << "pixel " << p << " channel " << c;
    }
}

}  // namespace
}  // namespace mete::opencl
