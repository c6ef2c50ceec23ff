#include "kernels/fast/bytes/byte_convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

constexpr ByteScale kScales[] = {
    {0.037f, 10, false}, {0.5f, 0, false}, {0.25f, -128, true}, {0.031f, 100, true}};

uint8_t Quantized(const ByteScale& of, float x) {
  const float least = of.is_signed ? -128.f : 0.f;
  if (std::isnan(x)) return uint8_t(int(least));
  return uint8_t(int(std::clamp(std::nearbyint(x / of.scale) + of.zero, least, least + 255)));
}

TEST(ByteConvert, QuantizesTiesAndSaturatesAtAnyLength) {
  OnEveryTarget([](const std::string&) {
    RandomData random(3);
    const float inf = std::numeric_limits<float>::infinity();
    for (const ByteScale& of : kScales)
      for (const int64_t length : {1, 15, 64, 100, 300}) {
        std::vector<float> x = random.Floats(length, 9);
        for (size_t i = 0; i < x.size(); i += 3) x[i] = (float(i) - 50.5f) * of.scale;  // halves of steps
        for (const float rare : {inf, -inf, std::nanf(""), 3e38f, -0.f})
          x[size_t(random.Int(0, length - 1))] = rare;
        std::vector<uint8_t> y(x.size() + 1, 77);
        RunQuantize(of, x.data(), {0, length}, y.data());
        for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], Quantized(of, x[i])) << x[i];
        EXPECT_EQ(y.back(), 77);
      }
  });
}

TEST(ByteConvert, DequantizesEveryByte) {
  OnEveryTarget([](const std::string&) {
    std::vector<uint8_t> x(300);
    for (size_t i = 0; i < x.size(); ++i) x[i] = uint8_t(i);
    for (const ByteScale& of : kScales)
      for (const int64_t length : {1, 7, 256, 300}) {
        std::vector<float> y(x.size(), 77);
        RunDequantize(of, x.data(), {0, length}, y.data());
        for (size_t i = 0; i < size_t(length); ++i) {
          const float level = of.is_signed ? float(int8_t(x[i])) : float(x[i]);
          ASSERT_EQ(y[i], (level - of.zero) * of.scale);
        }
        if (length < 300) {
          EXPECT_EQ(y[size_t(length)], 77);
        }
      }
  });
}

TEST(ByteConvert, BoundsIncludeZero) {
  OnEveryTarget([](const std::string&) {
    RandomData random(4);
    for (const int64_t length : {1, 5, 16, 33, 200})
      for (const float shift : {2.f, -2.f}) {
        std::vector<float> x = random.Floats(length);
        for (float& v : x) v += shift;
        const FloatBounds bounds = BoundsOf(x.data(), {0, length});
        EXPECT_EQ(bounds.least, std::min(0.f, *std::min_element(x.begin(), x.end())));
        EXPECT_EQ(bounds.most, std::max(0.f, *std::max_element(x.begin(), x.end())));
      }
    EXPECT_EQ(BoundsOf(nullptr, {0, 0}).most, 0);
  });
}

// A NaN neither becomes a bound nor hides what its lane had before.
TEST(ByteConvert, BoundsIgnoreNansWhereverTheyAre) {
  OnEveryTarget([](const std::string&) {
    constexpr size_t kLength = 64;
    for (size_t extreme = 0; extreme < kLength; ++extreme)
      for (size_t nan = 0; nan < kLength; ++nan) {
        if (nan == extreme) continue;
        std::vector<float> x(kLength, 0.5f);
        x[nan] = std::nanf("");
        x[extreme] = -3;
        ASSERT_EQ(BoundsOf(x.data(), {0, kLength}).least, -3) << extreme << ", NaN at " << nan;
        x[extreme] = 3;
        ASSERT_EQ(BoundsOf(x.data(), {0, kLength}).most, 3) << extreme << ", NaN at " << nan;
      }
  });
}

TEST(ByteConvert, ScalesSumsInPlace) {
  OnEveryTarget([](const std::string&) {
    RandomData random(5);
    for (const int64_t count : {1, 15, 16, 50}) {
      const std::vector<float> scale = random.Floats(count, 0.01f), bias = random.Floats(count);
      std::vector<int32_t> sums;
      for (int64_t i = 0; i < count; ++i) sums.push_back(int32_t(random.Int(-2000000000, 2000000000)));
      for (const bool with_bias : {false, true}) {
        std::vector<int32_t> in_place = sums;
        ScaleSums(scale.data(), with_bias ? bias.data() : nullptr, count, in_place.data());
        for (size_t i = 0; i < sums.size(); ++i) {
          volatile float want = float(sums[i]) * scale[i];
          if (with_bias) want = want + bias[i];
          ASSERT_EQ(reinterpret_cast<const float*>(in_place.data())[i], want);
        }
      }
    }
  });
}

}  // namespace
}  // namespace mete
