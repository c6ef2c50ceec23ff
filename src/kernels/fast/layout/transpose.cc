#include "kernels/fast/layout/transpose.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/layout/transpose.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

constexpr int64_t kStep = static_cast<int64_t>(kLanes);

#if HWY_TARGET <= HWY_AVX3
// The lanes of the three vectors that hold 16 pixels of three channels: the first lookup takes the first two
// channels, the second one puts the third channel between them.
struct PixelLanes {
  int32_t of_two[3][16] = {}, of_third[3][16] = {};
  constexpr PixelLanes() {
    for (int e = 0; e < 48; ++e) {
      const int pixel = e / 3, channel = e % 3, vector = e / 16, lane = e % 16;
      of_two[vector][lane] = channel == 1 ? 16 + pixel : pixel;
      of_third[vector][lane] = channel == 2 ? 16 + pixel : lane;
    }
  }
};
inline constexpr PixelLanes kPixelLanes;

// StoreInterleaved3 works within blocks of 128 bits, with some three times as many shuffles.
HWY_INLINE void StorePixels(V32 a, V32 b, V32 c, float* to) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    const __m512i of_two = _mm512_loadu_si512(kPixelLanes.of_two[i]),
                  of_third = _mm512_loadu_si512(kPixelLanes.of_third[i]);
    const __m512 two = _mm512_permutex2var_ps(a.raw, of_two, b.raw);
    _mm512_storeu_ps(to + 16 * i, _mm512_permutex2var_ps(two, of_third, c.raw));
  }
}
#else
HWY_INLINE void StorePixels(V32 a, V32 b, V32 c, float* to) { hn::StoreInterleaved3(a, b, c, F32(), to); }
#endif

// Interleaves one vector of each of kRows rows and stores the kRows resulting vectors side by side.
template <int kRows>
HWY_INLINE void InterleaveVectors(const float* from, int64_t stride, float* to) {
  const F32 d;
  const V32 a = hn::LoadU(d, from), b = hn::LoadU(d, from + stride);
  if constexpr (kRows == 2) {
    hn::StoreInterleaved2(a, b, d, to);
  } else {
    const V32 c = hn::LoadU(d, from + 2 * stride);
    if constexpr (kRows == 3) StorePixels(a, b, c, to);
    else hn::StoreInterleaved4(a, b, c, hn::LoadU(d, from + 3 * stride), d, to);
  }
}

template <int kRows>
HWY_INLINE void DeinterleaveVectors(const float* from, float* to, int64_t stride) {
  const F32 d;
  V32 a, b, c, e;
  if constexpr (kRows == 2) hn::LoadInterleaved2(d, from, a, b);
  if constexpr (kRows == 3) hn::LoadInterleaved3(d, from, a, b, c);
  if constexpr (kRows == 4) hn::LoadInterleaved4(d, from, a, b, c, e);
  hn::StoreU(a, d, to);
  hn::StoreU(b, d, to + stride);
  if constexpr (kRows > 2) hn::StoreU(c, d, to + 2 * stride);
  if constexpr (kRows > 3) hn::StoreU(e, d, to + 3 * stride);
}

// Calls vectors(i), which processes the elements [i, i + kStep), and one(i), which processes one element, so
// that all `length` elements are processed. The elements behind the last whole vector are processed by a
// vector that ends with the last element, which processes some elements again.
template <class Vectors, class One>
HWY_INLINE void Along(int64_t length, const Vectors& vectors, const One& one) {
  int64_t i = 0;
  for (; i + kStep <= length; i += kStep) vectors(i);
  if (i == length) return;
  if (length >= kStep) return vectors(length - kStep);
  for (; i < length; ++i) one(i);
}

template <int kRows>
HWY_INLINE void InterleaveRows(const float* from, int64_t stride, int64_t batch, int64_t columns, float* to) {
  for (int64_t b = 0; b < batch; ++b, from += kRows * stride, to += kRows * columns) {
    Along(
        columns, [&](int64_t c) HWY_ATTR { InterleaveVectors<kRows>(from + c, stride, to + c * kRows); },
        [&](int64_t c) HWY_ATTR {
          for (int r = 0; r < kRows; ++r) to[c * kRows + r] = from[r * stride + c];
        });
  }
}

template <int kColumns>
HWY_INLINE void DeinterleaveColumns(const float* from, int64_t batch, int64_t rows, float* to,
                                    int64_t stride) {
  for (int64_t b = 0; b < batch; ++b, from += kColumns * rows, to += kColumns * stride) {
    Along(
        rows, [&](int64_t r) HWY_ATTR { DeinterleaveVectors<kColumns>(from + r * kColumns, to + r, stride); },
        [&](int64_t r) HWY_ATTR {
          for (int c = 0; c < kColumns; ++c) to[c * stride + r] = from[r * kColumns + c];
        });
  }
}

// Turns 2 to 4 rows, `stride` elements apart, into the columns of a matrix without gaps, `batch` times.
void Interleave(const float* from, int64_t stride, int64_t batch, int64_t rows, int64_t columns, float* to) {
  if (rows == 2) return InterleaveRows<2>(from, stride, batch, columns, to);
  if (rows == 3) return InterleaveRows<3>(from, stride, batch, columns, to);
  InterleaveRows<4>(from, stride, batch, columns, to);
}

// Turns 2 to 4 columns of a matrix without gaps into rows, `stride` elements apart, `batch` times.
void Deinterleave(const float* from, int64_t batch, int64_t rows, int64_t columns, float* to,
                  int64_t stride) {
  if (columns == 2) return DeinterleaveColumns<2>(from, batch, rows, to, stride);
  if (columns == 3) return DeinterleaveColumns<3>(from, batch, rows, to, stride);
  DeinterleaveColumns<4>(from, batch, rows, to, stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(Interleave);
HWY_EXPORT(Deinterleave);

namespace {

// 16 values are a cache line, so that a tile reads and writes whole lines.
constexpr int64_t kTile = 16;

// Transposes a whole tile. The constant bounds let the compiler unroll the loops. Plain loops are enough,
// because the function is bound by memory.
void WholeTile(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  float tile[kTile][kTile];
  for (int64_t r = 0; r < kTile; ++r) {
    for (int64_t c = 0; c < kTile; ++c) tile[c][r] = from[r * from_stride + c];
  }
  for (int64_t c = 0; c < kTile; ++c) std::copy_n(tile[c], kTile, to + c * to_stride);
}

void AnyTile(const float* from, int64_t from_stride, int64_t rows, int64_t columns, float* to,
             int64_t to_stride) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

void Tiles(const float* from, int64_t from_stride, int64_t rows, int64_t columns, float* to,
           int64_t to_stride) {
  for (int64_t r = 0; r < rows; r += kTile) {
    const int64_t height = std::min(kTile, rows - r);
    for (int64_t c = 0; c < columns; c += kTile) {
      const int64_t width = std::min(kTile, columns - c);
      const float* source = from + r * from_stride + c;
      float* target = to + c * to_stride + r;
      if (height == kTile && width == kTile) {
        WholeTile(source, from_stride, target, to_stride);
      } else {
        AnyTile(source, from_stride, height, width, target, to_stride);
      }
    }
  }
}

// Returns whether Highway can interleave this number of rows at once. Examples are the 3 channels of a
// picture, and channel shuffles with 2 to 4 groups.
bool Few(int64_t side) { return side >= 2 && side <= 4; }

}  // namespace

void Transpose(const float* from, int64_t from_stride, Range rows, int64_t columns, float* to,
               int64_t to_stride) {
  from += rows.begin * from_stride;
  to += rows.begin;
  const int64_t height = rows.size();
  if (Few(height) && to_stride == height)
    return HWY_DYNAMIC_DISPATCH(Interleave)(from, from_stride, 1, height, columns, to);
  if (Few(columns) && from_stride == columns)
    return HWY_DYNAMIC_DISPATCH(Deinterleave)(from, 1, height, columns, to, to_stride);
  Tiles(from, from_stride, height, columns, to, to_stride);
}

void TransposeEach(const float* from, int64_t batch, int64_t rows, int64_t columns, float* to) {
  if (Few(rows)) return HWY_DYNAMIC_DISPATCH(Interleave)(from, columns, batch, rows, columns, to);
  if (Few(columns)) return HWY_DYNAMIC_DISPATCH(Deinterleave)(from, batch, rows, columns, to, rows);
  for (int64_t b = 0; b < batch; ++b, from += rows * columns, to += rows * columns)
    Tiles(from, columns, rows, columns, to, rows);
}

void NchwToNhwc(const float* from, int64_t channels, int64_t pixels, Range block, float* to) {
  Transpose(from + block.begin, pixels, {0, channels}, block.size(), to + block.begin * channels, channels);
}

void NhwcToNchw(const float* from, int64_t channels, int64_t pixels, Range block, float* to) {
  Transpose(from, channels, block, channels, to, pixels);
}

}  // namespace mete
#endif  // HWY_ONCE
