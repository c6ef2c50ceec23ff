#include "kernels/fast/layout/transpose_bytes.h"

#include <algorithm>
#include <cstring>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/layout/transpose_bytes.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef METE_TRANSPOSE_BYTES_ONCE
#define METE_TRANSPOSE_BYTES_ONCE
namespace mete {

struct Sides {
  int64_t rows, columns;
};

}  // namespace mete
#endif  // METE_TRANSPOSE_BYTES_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Interleaves a vector of each row.
template <int kRows, class D>
HWY_INLINE void InterleaveVectors(D d, const uint8_t* from, int64_t stride, uint8_t* to) {
  const auto first = hn::LoadU(d, from), second = hn::LoadU(d, from + stride);
  if constexpr (kRows == 2) hn::StoreInterleaved2(first, second, d, to);
  if constexpr (kRows == 3) hn::StoreInterleaved3(first, second, hn::LoadU(d, from + 2 * stride), d, to);
  if constexpr (kRows == 4)
    hn::StoreInterleaved4(first, second, hn::LoadU(d, from + 2 * stride), hn::LoadU(d, from + 3 * stride), d,
                          to);
}

// The last vectors end with the last column and may move some columns again. With fewer columns than lanes
// nothing is moved, and false is returned.
template <int kRows, class D>
HWY_INLINE bool InterleaveBy(D d, const uint8_t* from, int64_t stride, int64_t columns, uint8_t* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (columns < lanes) return false;
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) InterleaveVectors<kRows>(d, from + c, stride, to + kRows * c);
  if (c < columns)
    InterleaveVectors<kRows>(d, from + columns - lanes, stride, to + kRows * (columns - lanes));
  return true;
}

// Interleaves the rows of each of `batch` matrices.
template <int kRows>
void InterleaveRows(const uint8_t* from, int64_t batch, int64_t stride, int64_t columns, uint8_t* to) {
  const hn::ScalableTag<uint8_t> wide;
  const hn::CappedTag<uint8_t, 16> narrow;
  for (int64_t m = 0; m < batch; ++m, from += kRows * stride, to += kRows * columns) {
    if (InterleaveBy<kRows>(wide, from, stride, columns, to)) continue;
    if (InterleaveBy<kRows>(narrow, from, stride, columns, to)) continue;
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = 0; r < kRows; ++r) to[kRows * c + r] = from[r * stride + c];
  }
}

void Interleave(const uint8_t* from, int64_t batch, int64_t stride, Sides sides, uint8_t* to) {
  if (sides.rows == 2) return InterleaveRows<2>(from, batch, stride, sides.columns, to);
  if (sides.rows == 3) return InterleaveRows<3>(from, batch, stride, sides.columns, to);
  InterleaveRows<4>(from, batch, stride, sides.columns, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(Interleave);

namespace {

// A shuffle of channels in two groups, and pictures of three or four channels, interleave so many rows.
bool IsInterleaved(int64_t rows) { return rows >= 2 && rows <= 4; }

constexpr int64_t kSide = 8;  // bytes of a word

// Exchanges the bits of `a` that `mask` shifted by `bits` covers with those of `b` that it covers.
void Exchange(uint64_t& a, uint64_t& b, int bits, uint64_t mask) {
  const uint64_t differ = ((a >> bits) ^ b) & mask;
  a ^= differ << bits;
  b ^= differ;
}

// Transposes 8 x 8 bytes: first the quarters of 4 x 4 change places, then those of 2 x 2 in each, then single
// bytes. Byte 0 of a word is its lowest.
void TransposeWords(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride) {
  uint64_t w[kSide];
  for (int64_t i = 0; i < kSide; ++i) std::memcpy(&w[i], from + i * from_stride, kSide);
  for (int i = 0; i < 4; ++i) Exchange(w[i], w[i + 4], 32, 0x00000000ffffffffULL);
  for (int i : {0, 1, 4, 5}) Exchange(w[i], w[i + 2], 16, 0x0000ffff0000ffffULL);
  for (int i : {0, 2, 4, 6}) Exchange(w[i], w[i + 1], 8, 0x00ff00ff00ff00ffULL);
  for (int64_t i = 0; i < kSide; ++i) std::memcpy(to + i * to_stride, &w[i], kSide);
}

}  // namespace

void TransposeBytes(const uint8_t* from, int64_t from_stride, Range rows, int64_t columns, uint8_t* to,
                    int64_t to_stride) {
  if (IsInterleaved(rows.size()) && to_stride == rows.size())
    return HWY_DYNAMIC_DISPATCH(Interleave)(from + rows.begin * from_stride, 1, from_stride,
                                            {rows.size(), columns}, to + rows.begin);
  for (int64_t r = rows.begin; r < rows.end; r += kSide) {
    const int64_t height = std::min(kSide, rows.end - r);
    int64_t c = 0;
    if (height == kSide)
      for (; c + kSide <= columns; c += kSide)
        TransposeWords(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
    for (; c < columns; ++c)
      for (int64_t i = r; i < r + height; ++i) to[c * to_stride + i] = from[i * from_stride + c];
  }
}

void TransposeBytesEach(const uint8_t* from, int64_t batch, int64_t rows, int64_t columns, uint8_t* to) {
  if (IsInterleaved(rows)) return HWY_DYNAMIC_DISPATCH(Interleave)(from, batch, columns, {rows, columns}, to);
  for (int64_t m = 0; m < batch; ++m, from += rows * columns, to += rows * columns)
    TransposeBytes(from, columns, {0, rows}, columns, to, rows);
}

}  // namespace mete
#endif  // HWY_ONCE
