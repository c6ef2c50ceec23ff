#include "processor/opencl/kernels/lrn.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

class LrnOnGpu : public WithQueue {
 protected:
  void Check(const LrnShape& s, DType type, int vector) {
    constexpr int64_t kPixels = 5;
    const int64_t count = kPixels * s.channels;
    std::vector<float> x = RandomData(uint32_t(count)).Floats(count, 3);
    for (float& v : x) v = F16ToF32(F32ToF16(v));
    const Buffer from = Make(type, x), to = Blank(count * int64_t(SizeOf(type)));
    Run(LrnKernel(s, kPixels, type, vector), {&from, &to});
    const std::vector<float> got = Read(to, type);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t c = i % s.channels;
      double sum = 0;
      for (int64_t j = std::max<int64_t>(0, c - (s.size - 1) / 2);
           j <= std::min(s.channels - 1, c + s.size / 2); ++j)
        sum += double{x[size_t(i - c + j)]} * x[size_t(i - c + j)];
      const double base = s.bias + double{s.alpha} / double(s.size) * sum,
                   y = x[size_t(i)] * std::pow(base, -double{s.beta});
      // The sum's roundings are carried on with the slope `beta`; roots and powers are within 16 units.
      ASSERT_NEAR(got[size_t(i)], y,
                  SumTolerance(s.size + 16, std::abs(y)) +
                      (type == DType::kF16 ? 0x1p-11 * std::abs(y) + 0x1p-24 : 0))
          << "element " << i;
    }
  }
};

TEST_F(LrnOnGpu, MatchesDouble) {
  Check({.channels = 96, .size = 5}, DType::kF32, 16);
  Check({.channels = 20, .size = 4, .alpha = 0.5f, .beta = 0.5f, .bias = 2}, DType::kF32, 16);
  Check({.channels = 7, .size = 3, .alpha = 0.3f, .beta = 0.6f}, DType::kF32, 4);
  Check({.channels = 3, .size = 9, .alpha = 0.2f}, DType::kF32, 4);  // windows wider than the pixel
  Check({.channels = 64, .size = 5, .alpha = 0.1f}, DType::kF16, 8);
}

}  // namespace
}  // namespace mete::opencl
