#include "kernels/fast/half/half_cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "base/half.h"
#include "kernels/fast/test_util.h"

namespace mete {
namespace {

TEST(HalfCast, WidensEveryHalf) {
  std::vector<uint16_t> x(65536);
  for (size_t i = 0; i < x.size(); ++i) x[i] = uint16_t(i);
  OnEveryTarget([&](const std::string&) {
    std::vector<float> y(x.size());
    WidenHalves(DType::kF16, x.data(), {0, 65536}, y.data());
    for (const uint16_t h : x)
      ASSERT_EQ(std::bit_cast<uint32_t>(y[h]), std::bit_cast<uint32_t>(F16ToF32(h))) << h;
    WidenHalves(DType::kBF16, x.data(), {0, 65536}, y.data());
    for (const uint16_t h : x)
      ASSERT_EQ(std::bit_cast<uint32_t>(y[h]), std::bit_cast<uint32_t>(BF16ToF32(h))) << h;
  });
}

// Each half, the numbers right between two halves and next to those, and any bits.
std::vector<float> HardToRound() {
  std::vector<float> x;
  for (uint32_t h = 0; h < 65536; ++h)
    for (const float f : {F16ToF32(uint16_t(h)), BF16ToF32(uint16_t(h))})
      for (const uint32_t bit : {0u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u})
        x.push_back(std::bit_cast<float>(std::bit_cast<uint32_t>(f) + bit));
  std::mt19937 random(5);
  for (int i = 0; i < 200'000; ++i) x.push_back(std::bit_cast<float>(uint32_t(random())));
  return x;
}

TEST(HalfCast, RoundsAsTheReference) {
  const std::vector<float> x = HardToRound();
  OnEveryTarget([&](const std::string&) {
    std::vector<uint16_t> y(x.size());
    for (const DType type : {DType::kF16, DType::kBF16}) {
      RoundToHalves(type, x.data(), {0, int64_t(x.size())}, y.data());
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(y[i], type == DType::kF16 ? F32ToF16(x[i]) : F32ToBF16(x[i])) << x[i];
    }
  });
}

TEST(HalfCast, WritesItsRangeAlone) {
  OnEveryTarget([](const std::string&) {
    const std::vector<float> ones(100, 1);
    const std::vector<uint16_t> halves(100, 0x3c00);
    for (const Range range : {Range{0, 1}, Range{3, 50}, Range{37, 100}, Range{64, 64}}) {
      std::vector<uint16_t> rounded(100, 7);
      std::vector<float> wide(100, 7);
      RoundToHalves(DType::kF16, ones.data(), range, rounded.data());
      WidenHalves(DType::kF16, halves.data(), range, wide.data());
      for (int64_t i = 0; i < 100; ++i) {
        const bool in = i >= range.begin && i < range.end;
        ASSERT_EQ(rounded[size_t(i)], in ? 0x3c00 : 7);
        ASSERT_EQ(wide[size_t(i)], in ? 1.f : 7.f);
      }
    }
  });
}

}  // namespace
}  // namespace mete
