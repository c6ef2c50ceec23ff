#include "kernels/fast/layout/transpose.h"

#include <algorithm>

namespace mete {
namespace {

// 16 values are a cache line: a tile reads and writes whole ones.
constexpr int64_t kTile = 16;

// Constant bounds let the compiler unroll; plain loops suffice, since this is bound by memory.
void WholeTile(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  float tile[kTile][kTile];
  for (int64_t r = 0; r < kTile; ++r) {
    for (int64_t c = 0; c < kTile; ++c) tile[c][r] = from[r * from_stride + c];
  }
  for (int64_t c = 0; c < kTile; ++c) std::copy_n(tile[c], kTile, to + c * to_stride);
}

void AnyTile(const float* from, int64_t from_stride, int64_t rows, int64_t columns, float* to, int64_t to_stride) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

// Few rows: pictures, whose channels become neighbours.
template <int kRows>
void Interleave(const float* from, int64_t from_stride, int64_t columns, float* to, int64_t to_stride) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int r = 0; r < kRows; ++r) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

}  // namespace

void Transpose(const float* from, int64_t from_stride, Range rows, int64_t columns, float* to, int64_t to_stride) {
  const float* first = from + rows.begin * from_stride;
  if (rows.size() == 3) return Interleave<3>(first, from_stride, columns, to + rows.begin, to_stride);
  if (rows.size() == 4) return Interleave<4>(first, from_stride, columns, to + rows.begin, to_stride);
  for (int64_t r = rows.begin; r < rows.end; r += kTile) {
    const int64_t height = std::min(kTile, rows.end - r);
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

void NchwToNhwc(const float* from, int64_t channels, int64_t pixels, Range block, float* to) {
  Transpose(from + block.begin, pixels, {0, channels}, block.size(), to + block.begin * channels, channels);
}

void NhwcToNchw(const float* from, int64_t channels, int64_t pixels, Range block, float* to) {
  Transpose(from, channels, block, channels, to, pixels);
}

}  // namespace mete
