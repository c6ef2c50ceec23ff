#include "kernels/fast/bytes/byte_elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

TEST(ByteTable, LooksEveryByteUpAtAnyLength) {
  OnEveryTargetAndFeature([] {
    RandomData random(3);
    std::vector<uint8_t> table(256);
    for (uint8_t& t : table) t = uint8_t(random.Int(0, 255));
    for (const int64_t length : {1, 15, 63, 64, 65, 256, 1000}) {
      std::vector<uint8_t> x(static_cast<size_t>(length) + 2), y(x.size(), 77);
      for (size_t i = 0; i < x.size(); ++i) x[i] = uint8_t(i * 7);
      RunByteTable(table.data(), x.data(), {1, length + 1}, y.data());
      EXPECT_EQ(y.front(), 77);
      EXPECT_EQ(y.back(), 77);
      for (int64_t i = 1; i <= length; ++i)
        ASSERT_EQ(y[static_cast<size_t>(i)], table[x[static_cast<size_t>(i)]]) << i << " of " << length;
    }
  });
}

float LevelOf(uint8_t byte, bool is_signed) { return is_signed ? float(int8_t(byte)) : float(byte); }

uint8_t ByteOf(float level, const ByteBinary& of) {
  return uint8_t(int(std::nearbyint(std::clamp(level, of.least, of.most))));
}

// Rounds after each step, as the reference does (kernels/reference/quantized_elementwise.cc).
float Oracle(const ByteBinary& of, float a, float b) {
  if (!of.product) return std::fma(of.a_steps, a, std::fma(of.b_steps, b, of.start));
  volatile float product = (a - of.a_zero) * (b - of.b_zero);
  product = product * of.steps;
  return product + of.y_zero;
}

// All pairs of bytes, for many scales and zero points.
TEST(ByteBinary, EveryPairOfBytesIsThatOfTheFormula) {
  std::vector<uint8_t> a(65536), b(65536), y(65536);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = uint8_t(i >> 8);
    b[i] = uint8_t(i);
  }
  OnEveryTarget([&](const std::string&) {
    RandomData random(5);
    for (int round = 0; round < 24; ++round) {
      const auto scale = [&] {
        const bool is_signed = random.Int(0, 1) == 1;
        const int64_t zero = random.Int(0, 255) - (is_signed ? 128 : 0);
        return ByteScale{float(random.Int(4, 50)) / 1009, float(zero), is_signed};
      };
      const ByteScale x = scale(), z = scale(), out = scale();
      ByteBinary of = round % 2 ? MakeByteSum(x, z, out) : MakeByteProduct(x, z, out);
      if (round % 3 == 0) of.most -= 30;
      if (round % 4 == 0) of.fits = false;
      RunByteBinary(of, {a.data(), b.data(), 256, 256, 256}, {0, 256}, y.data());
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y[i], ByteOf(Oracle(of, LevelOf(a[i], x.is_signed), LevelOf(b[i], z.is_signed)), of))
            << int(a[i]) << " and " << int(b[i]) << " in round " << round;
    }
  });
}

TEST(ByteBinary, RowsOfAnyLengthWriteNothingElse) {
  OnEveryTarget([](const std::string&) {
    const ByteScale scale{0.02f, 7, false};
    const ByteBinary of = MakeByteSum(scale, scale, scale);
    for (const int64_t length : {1, 3, 15, 16, 17, 50, 1100}) {
      const auto n = static_cast<size_t>(length);
      std::vector<uint8_t> a(3 * n), b(n), y(3 * n + 1, 99);
      for (size_t i = 0; i < a.size(); ++i) a[i] = uint8_t(i * 31);
      for (size_t i = 0; i < b.size(); ++i) b[i] = uint8_t(i * 57);
      RunByteBinary(of, {a.data(), b.data(), length, 0, length}, {1, 3}, y.data());
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], 99);
      EXPECT_EQ(y.back(), 99);
      for (size_t i = n; i < 3 * n; ++i)
        EXPECT_EQ(y[i], ByteOf(Oracle(of, float(a[i]), float(b[i % n])), of));
    }
  });
}

// Short rows are computed many at a time.
TEST(ByteBinary, EitherOperandMayRepeatARow) {
  OnEveryTarget([](const std::string&) {
    const ByteScale x{0.02f, 7, false}, z{0.03f, -3, true};
    for (const int64_t length : {1, 7, 24, 96, 1000, 1100})
      for (const bool first : {false, true}) {
        const auto n = static_cast<size_t>(length), rows = size_t{6000} / n + 3;
        const ByteBinary of = first ? MakeByteProduct(x, z, x) : MakeByteProduct(z, x, z);
        std::vector<uint8_t> all(rows * n), one(n), y(all.size() + 1, 99);
        for (size_t i = 0; i < all.size(); ++i) all[i] = uint8_t(i * 31 + i / 256);
        for (size_t i = 0; i < n; ++i) one[i] = uint8_t(i * 57 + 11);
        const ByteRows operands = first ? ByteRows{one.data(), all.data(), 0, length, length}
                                        : ByteRows{all.data(), one.data(), length, 0, length};
        RunByteBinary(of, operands, {1, int64_t(rows)}, y.data());
        for (size_t i = 0; i < all.size(); ++i) {
          const uint8_t a = first ? one[i % n] : all[i], b = first ? all[i] : one[i % n];
          const float level = Oracle(of, LevelOf(a, of.a_signed), LevelOf(b, of.b_signed));
          ASSERT_EQ(y[i], i < n ? 99 : ByteOf(level, of)) << i << " of rows of " << length;
        }
        EXPECT_EQ(y.back(), 99);
      }
  });
}

}  // namespace
}  // namespace mete
