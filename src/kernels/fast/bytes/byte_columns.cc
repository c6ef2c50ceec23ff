#include "kernels/fast/bytes/byte_columns.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/bytes/byte_columns.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<uint8_t>;

#if HWY_TARGET != HWY_SCALAR
// Sums a vector of columns from column `c` on. Bytes at even and at odd places are summed apart, in 16 bits
// as long as they fit.
template <class D8>
HWY_INLINE void SumVector(D8 d8, const ByteMatrix& m, int64_t c, int32_t* sums) {
  constexpr int64_t kMostTogether = 0xffff / 0xff;
  const hn::Repartition<uint16_t, D8> d;
  constexpr size_t kPairs = hn::MaxLanes(d);
  HWY_ALIGN uint16_t evens[kPairs], odds[kPairs];
  std::fill_n(sums, 2 * kPairs, 0);
  for (int64_t r = 0; r < m.rows;) {
    auto even = hn::Zero(d), odd = hn::Zero(d);
    for (const int64_t end = std::min(m.rows, r + kMostTogether); r < end; ++r) {
      const auto bytes = hn::LoadU(d8, m.bytes + r * m.stride + c);
      const auto pairs = hn::BitCast(d, hn::Xor(bytes, hn::Set(d8, m.flip)));
      even = hn::Add(even, hn::And(pairs, hn::Set(d, 0xff)));
      odd = hn::Add(odd, hn::ShiftRight<8>(pairs));
    }
    hn::Store(even, d, evens);
    hn::Store(odd, d, odds);
    for (size_t i = 0; i < kPairs; ++i) {
      sums[2 * i] += evens[i];
      sums[2 * i + 1] += odds[i];
    }
  }
}

// Sums the columns from `c` on that fill vectors of D8; returns the first one that is left.
template <class D8>
HWY_INLINE int64_t SumVectors(D8 d8, const ByteMatrix& m, int64_t c, int32_t* sums) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d8));
  for (; c + lanes <= m.columns; c += lanes) SumVector(d8, m, c, sums + c);
  return c;
}
#endif

void SumColumns(const ByteMatrix& m, int32_t* sums) {
  int64_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  c = SumVectors(Bytes(), m, c, sums);
  c = SumVectors(hn::CappedTag<uint8_t, 16>(), m, c, sums);
  c = SumVectors(hn::CappedTag<uint8_t, 8>(), m, c, sums);
#endif
  for (; c < m.columns; ++c) {
    sums[c] = 0;
    for (int64_t r = 0; r < m.rows; ++r) sums[c] += m.bytes[r * m.stride + c] ^ m.flip;
  }
}

void InterleaveRows(const ByteMatrix& m, uint8_t* to) {
  const Bytes d;
  const auto flip = hn::Set(d, m.flip);
  const auto row = [&](int64_t r, int64_t c)
                       HWY_ATTR { return hn::Xor(hn::LoadU(d, m.bytes + r * m.stride + c), flip); };
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= m.columns; c += lanes)
    hn::StoreInterleaved4(row(0, c), row(1, c), row(2, c), row(3, c), d, to + 4 * c);
  for (; c < m.columns; ++c)
    for (int64_t r = 0; r < 4; ++r) to[4 * c + r] = m.bytes[r * m.stride + c] ^ m.flip;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(SumColumns);
HWY_EXPORT(InterleaveRows);

void SumByteColumns(const ByteMatrix& m, int32_t* sums) { HWY_DYNAMIC_DISPATCH(SumColumns)(m, sums); }
void InterleaveFourRows(const ByteMatrix& m, uint8_t* to) { HWY_DYNAMIC_DISPATCH(InterleaveRows)(m, to); }

}  // namespace mete
#endif  // HWY_ONCE
