#include "base/few_bit_matrix.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/half.h"
#include "base/tensor_source.h"

namespace mete {
namespace {

constexpr int64_t kRows = 3, kColumns = 21, kBlock = 8, kBlocks = 3;

uint32_t Integer(int64_t row, int64_t column, int bits) {
  return uint32_t(row * 31 + column * 7 + 3) % (1u << bits);
}
float ScaleOf(int64_t row, int64_t block) { return 0.25f * float(row + 1) + 0.5f * float(block); }
uint32_t Zero(int64_t row, int64_t block, int bits) {
  return uint32_t(row * 5 + block * 3 + 1) % (1u << bits);
}

// Packs integers of `bits`, each row of them from a byte on.
template <class F>
Tensor Packed(int64_t rows, int64_t count, int bits, F integer) {
  const int64_t bytes = (count * bits + 7) / 8;
  Tensor t(DType::kU8, Shape{rows, bytes});
  auto* out = static_cast<uint8_t*>(t.mutable_view().data);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < count; ++i)
      for (int bit = 0; bit < bits; ++bit)
        if (integer(r, i) >> bit & 1) {
          const int64_t at = i * bits + bit;
          out[r * bytes + at / 8] = uint8_t(out[r * bytes + at / 8] | 1u << (at % 8));
        }
  return t;
}

FewBitMatrix Matrix(int bits) {
  FewBitMatrix m{.rows = kRows, .columns = kColumns, .block = kBlock, .bits = bits};
  m.integers =
      Packed(kRows, kBlocks * kBlock, bits, [&](int64_t r, int64_t c) { return Integer(r, c, bits); });
  std::vector<float> scales;
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t b = 0; b < kBlocks; ++b) scales.push_back(ScaleOf(r, b));
  m.scales = Tensor::Floats({kRows, kBlocks}, scales);
  return m;
}

void ExpectElements(const FewBitMatrix& m, const std::function<float(int64_t, int64_t)>& zero) {
  const Tensor t = Dequantized(m);
  ASSERT_EQ(t.shape(), (Shape{kRows, kColumns}));
  const auto want = [&](int64_t i) {
    const int64_t r = i / kColumns, c = i % kColumns;
    return (float(Integer(r, c, m.bits)) - zero(r, c / kBlock)) * ScaleOf(r, c / kBlock);
  };
  for (int64_t begin = 0; begin < kRows * kColumns; begin += 5)
    for (const int64_t count : {int64_t{1}, std::min<int64_t>(kRows * kColumns - begin, 26)}) {
      std::vector<float> part(size_t(count), -1);
      ReadElements(t, begin, count, part.data());
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(part[size_t(i)], want(begin + i)) << begin << " " << i;
    }
  for (int64_t i = 0; i < kRows * kColumns; ++i) EXPECT_EQ(t.as<float>()[i], want(i));
}

TEST(FewBitMatrix, WithoutZeroPointsHalfOfTheRangeIsZero) {
  for (const int bits : {2, 4, 8})
    ExpectElements(Matrix(bits), [&](int64_t, int64_t) { return float(1 << (bits - 1)); });
}

TEST(FewBitMatrix, ZeroPointsArePackedAsTheIntegers) {
  for (const int bits : {2, 4, 8}) {
    FewBitMatrix m = Matrix(bits);
    m.zeros = Packed(kRows, kBlocks, bits, [&](int64_t r, int64_t b) { return Zero(r, b, bits); });
    ASSERT_EQ(m.zeros.shape()[1], m.ZeroBytes());
    ExpectElements(m, [&](int64_t r, int64_t b) { return float(Zero(r, b, bits)); });
  }
}

TEST(FewBitMatrix, ZeroPointsMayBeFloats) {
  FewBitMatrix m = Matrix(4);
  m.zeros = Tensor::Floats({kRows, kBlocks}, std::vector<float>{0, 1.5f, -2, 3, 4, 5, 6, 7, 8.25f});
  ExpectElements(m, [&](int64_t r, int64_t b) { return m.zeros.as<float>()[r * kBlocks + b]; });
}

TEST(FewBitMatrix, HasTheTypeOfItsScales) {
  FewBitMatrix m = Matrix(4);
  const Tensor floats = Dequantized(m);
  Tensor halves(DType::kF16, m.scales.shape());
  for (int64_t i = 0; i < halves.elements(); ++i)
    static_cast<uint16_t*>(halves.mutable_view().data)[i] = F32ToF16(m.scales.as<float>()[i]);
  m.scales = halves;
  const Tensor t = Dequantized(m);
  ASSERT_EQ(t.type(), DType::kF16);
  for (int64_t i = 0; i < t.elements(); ++i)  // all of these values are exact in f16
    EXPECT_EQ(F16ToF32(t.as<uint16_t>()[i]), floats.as<float>()[i]);
}

TEST(FewBitMatrix, DigestsOfOtherBlocksDiffer) {
  FewBitMatrix m = Matrix(4), other = m;
  other.block = 2 * kBlock;
  const Tensor one = Dequantized(m), two = Dequantized(other);
  const auto a = PartsOf(one), b = PartsOf(two);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_NE(std::memcmp(a.back().data(), b.back().data(), a.back().size()), 0);
}

}  // namespace
}  // namespace mete
