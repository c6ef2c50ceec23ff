#include "kernels/fast/layout/transpose.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

TEST(TransposeF32, BothWaysInAnyBlocks) {
  uint32_t seed = 1;
  for (const auto& [channels, pixels] : {std::pair<int64_t, int64_t>{3, 100}, {16, 16}, {1, 1}, {33, 47}, {64, 35}, {5, 1000}}) {
    RandomData random(seed++);
    const std::vector<float> nchw = random.Floats(channels * pixels);
    std::vector<float> nhwc(nchw.size(), -77), back(nchw.size(), -77);
    for (int64_t p = 0, end; p < pixels; p = end) {
      end = std::min(pixels, p + random.Int(1, 40));
      NchwToNhwc(nchw.data(), channels, pixels, {p, end}, nhwc.data());
      NhwcToNchw(nhwc.data(), channels, pixels, {p, end}, back.data());
    }
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p) ASSERT_EQ(nhwc[p * channels + c], nchw[c * pixels + p]);
    }
    ASSERT_EQ(back, nchw);
  }
}

}  // namespace
}  // namespace mete
