#include "kernels/fast/pool/pool.h"

#include <gtest/gtest.h>

#include "kernels/fast/pool/pool_testing.h"
#include "kernels/fast/test_util.h"

namespace mete {
namespace {

// Pools tap by tap in double, and decides which taps count independently of the kernel's clipping.
double Oracle(const PoolShape& shape, const std::vector<float>& input, int64_t pixel, int64_t c) {
  const ConvShape& s = shape.window;
  const int64_t n = pixel / (s.out_height * s.out_width), oy = pixel / s.out_width % s.out_height,
                ox = pixel % s.out_width;
  double best = -std::numeric_limits<double>::infinity(), sum = 0;
  int64_t inside = 0, padded = 0;
  for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
    for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
      const int64_t y = oy * s.stride_y - s.pad_top + ky * s.dilation_y,
                    x = ox * s.stride_x - s.pad_left + kx * s.dilation_x;
      padded += y < s.in_height + shape.pad_bottom && x < s.in_width + shape.pad_right;
      if (y < 0 || x < 0 || y >= s.in_height || x >= s.in_width) continue;
      const double v =
          input[static_cast<size_t>(((n * s.in_height + y) * s.in_width + x) * s.in_channels + c)];
      ++inside;
      sum += v;
      best = std::max(best, v);
    }
  }
  if (shape.kind == PoolKind::kMax) return best;
  return inside ? sum / static_cast<double>(shape.count_include_pad ? padded : inside) : 0;
}

TEST(PoolF32, RandomWindowsMatchTapByTap) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1; seed <= 60; ++seed) {
      RandomData random(seed);
      const PoolShape shape = RandomPool(random, 150, seed);
      const ConvShape& s = shape.window;
      const std::vector<float> input = random.Floats(s.batch * s.in_height * s.in_width * s.in_channels);
      std::vector<float> out(static_cast<size_t>(s.out_pixels() * s.in_channels), -77.0f);
      const int64_t cut = random.Int(0, s.out_pixels());
      RunPool(shape, input.data(), {0, cut}, out.data());
      RunPool(shape, input.data(), {cut, s.out_pixels()}, out.data());
      for (int64_t i = 0; i < s.out_pixels() * s.in_channels; ++i) {
        const double expected = Oracle(shape, input, i / s.in_channels, i % s.in_channels);
        if (std::isinf(expected)) {
          ASSERT_EQ(out[static_cast<size_t>(i)], expected) << "seed " << seed;
        } else {
          ASSERT_NEAR(out[static_cast<size_t>(i)], expected, SumTolerance(16, 2))
              << "seed " << seed << " at " << i;
        }
      }
    }
  });
}

TEST(PoolF32, OverAWholeImage) {
  OnEveryTarget([](const std::string&) {
    constexpr int64_t kPixels = 49, kChannels = 77, kStride = 80;
    const std::vector<float> input = RandomData(5).Floats(kPixels * kStride);
    std::vector<float> mean(kChannels), most(kChannels);
    for (const Range channels : {Range{0, 32}, Range{32, kChannels}}) {
      GlobalPool(PoolKind::kAverage, input.data(), kPixels, kStride, kPixels, channels, mean.data());
      GlobalPool(PoolKind::kMax, input.data(), kPixels, kStride, 1, channels, most.data());
    }
    for (int64_t c = 0; c < kChannels; ++c) {
      double sum = 0, best = -1e9;
      for (int64_t p = 0; p < kPixels; ++p) {
        sum += input[p * kStride + c];
        best = std::max<double>(best, input[p * kStride + c]);
      }
      ASSERT_NEAR(mean[c], sum / kPixels, SumTolerance(kPixels, 1));
      ASSERT_EQ(most[c], best);
    }
  });
}

// A NaN must stay in its own channel and must not spread to others.
TEST(PoolF32, ANanInTheWindowStays) {
  OnEveryTarget([](const std::string&) {
    for (const int64_t channels : {1, 8, 16, 33, 50, 77}) {
      for (int64_t where = 0; where < 9; ++where) {
        const int64_t lane = (where * 7 + channels / 2) % channels;
        std::vector<float> input(static_cast<size_t>(9 * channels), 1.0f), out(static_cast<size_t>(channels));
        input[static_cast<size_t>(where * channels + lane)] = NAN;
        GlobalPool(PoolKind::kMax, input.data(), 9, channels, 1, {0, channels}, out.data());
        for (int64_t c = 0; c < channels; ++c) {
          const float value = out[static_cast<size_t>(c)];
          if (c == lane) ASSERT_TRUE(std::isnan(value)) << channels << " channels, tap " << where;
          else ASSERT_EQ(value, 1) << channels << " channels, tap " << where << ", channel " << c;
        }
      }
    }
  });
}

}  // namespace
}  // namespace mete
