#include "kernels/fast/bytes/byte_pool.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

struct Problem {
  PoolShape shape;
  ByteScale x, y;
  std::vector<uint8_t> input;

  explicit Problem(RandomData& random) {
    ConvShape& s = shape.window;
    s.batch = random.Int(1, 2);
    s.in_height = random.Int(3, 9);
    s.in_width = random.Int(3, 9);
    s.in_channels = s.out_channels = random.Int(1, 140);
    s.kernel_height = random.Int(1, 3);
    s.kernel_width = random.Int(1, 3);
    s.stride_y = random.Int(1, 2);
    s.stride_x = random.Int(1, 2);
    s.dilation_y = random.Int(1, 2);
    s.dilation_x = random.Int(1, 2);
    s.pad_top = random.Int(0, 2);
    s.pad_left = random.Int(0, 2);
    s.out_height = random.Int(1, (s.in_height + s.pad_top) / s.stride_y + 1);
    s.out_width = random.Int(1, (s.in_width + s.pad_left) / s.stride_x + 1);
    x = Scale(random);
    y = Scale(random);
    input.resize(static_cast<size_t>(s.batch * s.in_height * s.in_width * s.in_channels));
    for (uint8_t& byte : input) byte = uint8_t(random.Int(0, 255));
  }

  static ByteScale Scale(RandomData& random) {
    const bool is_signed = random.Int(0, 1) == 1;
    return {float(random.Int(10, 30)) / 1009, float(random.Int(0, 255) - (is_signed ? 128 : 0)), is_signed};
  }

  int64_t outputs() const { return shape.window.out_pixels() * shape.window.in_channels; }
  float Level(size_t at) const { return x.is_signed ? float(int8_t(input[at])) : float(input[at]); }

  // Calls f(level) for each tap inside the input, in the order of the taps.
  template <class F>
  void ForTaps(int64_t pixel, int64_t c, const F& f) const {
    const ConvShape& s = shape.window;
    const int64_t stride = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels;
    const int64_t n = pixel / (s.out_height * s.out_width),
                  top = pixel / s.out_width % s.out_height * s.stride_y - s.pad_top,
                  left = pixel % s.out_width * s.stride_x - s.pad_left;
    for (int64_t ky = 0; ky < s.kernel_height; ++ky)
      for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
        const int64_t row = top + ky * s.dilation_y, column = left + kx * s.dilation_x;
        if (row < 0 || column < 0 || row >= s.in_height || column >= s.in_width) continue;
        f(Level(static_cast<size_t>(((n * s.in_height + row) * s.in_width + column) * stride + c)));
      }
  }
};

uint8_t ByteOf(float level, const ByteScale& y) {
  const float least = y.is_signed ? -128.f : 0.f;
  return uint8_t(int(std::clamp(std::nearbyint(level), least, least + 255)));
}

TEST(BytePool, MaximaAndAveragesMatchTapByTap) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1; seed <= 60; ++seed) {
      RandomData random(seed);
      Problem p(random);
      const int64_t pixels = p.shape.window.out_pixels(), cut = random.Int(0, pixels),
                    channels = p.shape.window.in_channels;
      std::vector<uint8_t> max(static_cast<size_t>(p.outputs()), 77), average(max);
      for (const Range part : {Range{0, cut}, Range{cut, pixels}}) {
        RunByteMaxPool(p.shape, p.x.is_signed, p.input.data(), part, max.data());
        RunByteAveragePool(p.shape, p.x, p.y, p.input.data(), part, average.data());
      }
      for (int64_t at = 0; at < p.outputs(); ++at) {
        float most = p.x.is_signed ? -128 : 0, count = 0;
        volatile float sum = 0;
        p.ForTaps(at / channels, at % channels, [&](float level) {
          most = std::max(most, level);
          volatile float number = (level - p.x.zero) * p.x.scale;
          sum = sum + number;
          ++count;
        });
        ASSERT_EQ(max[static_cast<size_t>(at)], uint8_t(int(most))) << "seed " << seed;
        volatile float mean = count > 0 ? sum / count : 0;
        mean = mean / p.y.scale;
        ASSERT_EQ(average[static_cast<size_t>(at)], ByteOf(mean + p.y.zero, p.y)) << "seed " << seed;
      }
    }
  });
}

TEST(BytePool, MaximaOfLongRowsAndWidePixelsMatchTapByTap) {
  struct Case {
    int64_t width, channels, gap;  // gap: bytes between the pixels of the input
  };
  OnEveryTarget([](const std::string&) {
    for (const Case& c : {Case{201, 96, 0}, Case{113, 24, 0}, Case{7, 3001, 0}, Case{40, 500, 12}})
      for (uint32_t seed = 1; seed <= 4; ++seed) {
        RandomData random(seed);
        Problem p(random);
        ConvShape& s = p.shape.window;
        s.in_width = c.width;
        s.out_width = (c.width + s.pad_left) / s.stride_x;
        s.in_channels = s.out_channels = c.channels;
        s.in_pixel_stride = c.channels + c.gap;
        s.dilation_x = 1;
        s.kernel_width = 3;
        p.input.resize(static_cast<size_t>(s.batch * s.in_height * s.in_width * s.in_pixel_stride));
        for (uint8_t& byte : p.input) byte = uint8_t(random.Int(0, 255));
        std::vector<uint8_t> max(static_cast<size_t>(p.outputs()), 77);
        RunByteMaxPool(p.shape, p.x.is_signed, p.input.data(), {0, s.out_pixels()}, max.data());
        for (int64_t at = 0; at < p.outputs(); ++at) {
          float most = p.x.is_signed ? -128 : 0;
          p.ForTaps(at / c.channels, at % c.channels, [&](float level) { most = std::max(most, level); });
          ASSERT_EQ(max[static_cast<size_t>(at)], uint8_t(int(most))) << c.width << ", seed " << seed;
        }
      }
  });
}

TEST(BytePool, AveragesOfImagesAreThoseOfExactSums) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1; seed <= 34; ++seed) {
      RandomData random(seed);
      Problem p(random);
      ConvShape& s = p.shape.window;
      if (seed > 30) {  // more bytes than sums of 16 bits hold, all of them large or all small
        s.in_height = 41;
        s.in_width = 20;
        p.input.assign(static_cast<size_t>(s.batch * 41 * 20 * s.in_channels), seed % 2 ? 255 : 128);
      }
      const int64_t pixels = s.in_height * s.in_width, cut = random.Int(0, s.in_channels);
      std::vector<uint8_t> out(static_cast<size_t>(s.in_channels), 77);
      for (const Range part : {Range{0, cut}, Range{cut, s.in_channels}})
        RunByteGlobalAverage(p.x, p.y, p.input.data(), pixels, s.in_channels, part, out.data());
      for (int64_t c = 0; c < s.in_channels; ++c) {
        double sum = 0;
        for (int64_t i = 0; i < pixels; ++i)
          sum += double(p.Level(static_cast<size_t>(i * s.in_channels + c))) - double(p.x.zero);
        const float steps = p.x.scale / (p.y.scale * float(pixels));
        ASSERT_EQ(out[static_cast<size_t>(c)], ByteOf(std::nearbyint(float(sum) * steps) + p.y.zero, p.y))
            << "seed " << seed;
      }
    }
  });
}

}  // namespace
}  // namespace mete
