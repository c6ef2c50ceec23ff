#include "processor/opencl/kernels/window.h"

#include <gtest/gtest.h>

#include "kernels/fast/conv/conv_oracle.h"
#include "kernels/fast/pool/pool_testing.h"
#include "processor/opencl/kernels/map.h"
#include "mete/error.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

class Window : public WithQueue {};

std::vector<ConvShape> DepthwiseShapes() {
  return {
      Sized({1, 9, 11, 20, 1, 1, 20, 3, 3, 1, 1, 1, 1, 1, 1, 20}, 1, 1),
      Sized({2, 8, 9, 33, 1, 1, 33, 3, 3, 2, 2, 1, 1, 1, 1, 33}, 1, 1),
      Sized({1, 10, 12, 16, 1, 1, 16, 5, 5, 1, 1, 1, 1, 2, 2, 16}, 2, 2),
      Sized({1, 10, 9, 5, 1, 1, 5, 3, 2, 2, 1, 2, 3, 0, 1, 5, 7, 9}, 3, 2),
      Sized({1, 6, 7, 20, 1, 1, 20, 3, 3, 1, 1, 1, 1, 1, 1, 20, 29, 31}, 1, 1),
  };
}

TEST_F(Window, DepthwiseMatchesTheSumInDouble) {
  uint32_t seed = 0;
  for (const ConvShape& s : DepthwiseShapes()) {
    for (int vector : {16, 4}) {
      ++seed;
      const ConvProblem problem(s, kAllActivations[seed], s.out_pixel_stride ? 2 * seed : seed);
      const Epilogue& e = problem.epilogue();
      const std::vector<float> blank = problem.Blank();
      const DepthwiseSpec spec{.shape = s,
                               .input_first = s.in_pixel_stride ? 3 : 0,
                               .output_first = s.out_pixel_stride ? 7 : 0,
                               .activation = e.activation,
                               .bias = true,
                               .residual = e.residual != nullptr};
      const int64_t taps = s.kernel_height * s.kernel_width, channels = s.in_channels;
      const Buffer input = Make(DType::kF32, Behind(spec.input_first, std::numeric_limits<float>::quiet_NaN(),
                                                    {problem.input(), problem.inputs()}));
      const Buffer weights = Make(DType::kF32, {problem.weights(), size_t(taps * channels)});
      const Buffer bias = Make(DType::kF32, {e.bias, size_t(channels)}),
                   output = Make(DType::kF32, Behind(spec.output_first, -77, blank));
      const Buffer by_tap = Blank(taps * channels * 4);
      Buffer residual;
      if (spec.residual) residual = Make(DType::kF32, {e.residual, blank.size()});
      Run(MapKernel({.sizes = {taps, channels},
                     .inputs = {{.strides = {1, taps}}},
                     .output = {.strides = {channels, 1}},
                     .program = {}},
                    vector),
          {&weights, &by_tap});
      Run(DepthwiseKernel(spec, vector, vector == 4 ? 1 : 3),
          {&input, &by_tap, &bias, spec.residual ? &residual : nullptr, &output});
      problem.Check(SliceFrom(spec.output_first, -77, Read(output, DType::kF32)));
      if (HasFailure()) FAIL() << "shape " << seed;
    }
  }
}

TEST(WindowText, OtherConvolutionsAreNotDepthwise) {
  const ConvShape s = Sized({1, 9, 11, 20, 1, 1, 20, 3, 3, 1, 1, 1, 1, 1, 1, 10}, 1, 1);
  EXPECT_THROW(DepthwiseKernel({.shape = s}, 4, 1), Error);
}

// The CPU's kernel, which pool_test.cc compares with a sum in double, is the reference.
void ExpectAsOnTheCpu(const PoolShape& shape, const std::vector<float>& input, const std::vector<float>& got,
                      double rounding) {
  std::vector<float> expected(got.size());
  RunPool(shape, input.data(), {0, shape.window.out_pixels()}, expected.data());
  const int64_t taps = shape.window.kernel_height * shape.window.kernel_width;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isinf(expected[i])) ASSERT_EQ(got[i], expected[i]) << i;
    else ASSERT_NEAR(got[i], expected[i], 2 * SumTolerance(taps, 1) + rounding) << i;
  }
}

TEST_F(Window, RandomPoolsAreThoseOfTheCpu) {
  for (uint32_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomData random(seed);
    const PoolShape shape = RandomPool(random, 70, seed);
    const ConvShape& s = shape.window;
    std::vector<float> input = random.Floats(s.batch * s.in_height * s.in_width * s.in_channels);
    const DType type = seed % 3 ? DType::kF32 : DType::kF16;
    for (float& v : input) v = F16ToF32(F32ToF16(v));
    const Buffer x = Make(type, input), y = Blank(s.out_pixels() * s.out_channels * int64_t(SizeOf(type)));
    Run(PoolKernel(shape, type, seed % 5 ? 16 : 4), {&x, &y});
    ExpectAsOnTheCpu(shape, input, Read(y, type), type == DType::kF16 ? 0x1p-11 : 0);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Window, APoolMayHaveAWindowOfTheWholeImage) {
  PoolShape shape{.window = Sized({2, 7, 6, 50, 1, 1, 50, 7, 6, 1, 1, 1, 1, 0, 0, 1}, 0, 0),
                  .kind = PoolKind::kAverage};
  const std::vector<float> input = RandomData(1).Floats(2 * 7 * 6 * 50);
  const Buffer x = Make(DType::kF32, input), y = Blank(2 * 50 * 4);
  Run(PoolKernel(shape, DType::kF32, 16), {&x, &y});
  ExpectAsOnTheCpu(shape, input, Read(y, DType::kF32), 0);
}

}  // namespace
}  // namespace mete::opencl
