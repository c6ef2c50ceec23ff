#include "kernels/fast/layout/transpose_bytes.h"

#include <algorithm>
#include <cstring>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/layout/transpose_bytes.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Interleaves three rows, those of a picture with three channels. Returns the number of columns that are
// done; fewer than a vector's are left.
int64_t InterleaveThree(const uint8_t* from, int64_t stride, int64_t columns, uint8_t* to) {
  const hn::ScalableTag<uint8_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes)
    hn::StoreInterleaved3(hn::LoadU(d, from + c), hn::LoadU(d, from + stride + c),
                          hn::LoadU(d, from + 2 * stride + c), d, to + 3 * c);
  return c;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(InterleaveThree);

namespace {

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
  for (int64_t r = rows.begin; r < rows.end; r += kSide) {
    const int64_t height = std::min(kSide, rows.end - r);
    int64_t c = 0;
    if (height == 3 && to_stride == 3)
      c = HWY_DYNAMIC_DISPATCH(InterleaveThree)(from + r * from_stride, from_stride, columns, to + r);
    if (height == kSide)
      for (; c + kSide <= columns; c += kSide)
        TransposeWords(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
    for (; c < columns; ++c)
      for (int64_t i = r; i < r + height; ++i) to[c * to_stride + i] = from[i * from_stride + c];
  }
}

}  // namespace mete
#endif  // HWY_ONCE
