// Transposition of a matrix of 4-byte values in tiles of cache lines, and conversions between NCHW and NHWC.
#pragma once

#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

// Assigns to[c * to_stride + r] = from[r * from_stride + c] for r in `rows` and c in [0, columns). Blocks of
// rows may run on any threads at once. `from` and `to` must not overlap.
void Transpose(const float* from, int64_t from_stride, Range rows, int64_t columns, float* to,
               int64_t to_stride);

// Transposes `batch` matrices without gaps, which lie one behind the other. For small matrices this is faster
// than one call for each.
void TransposeEach(const float* from, int64_t batch, int64_t rows, int64_t columns, float* to);

// These functions convert one image. `pixels` is height * width. Blocks are ranges of pixels.
void NchwToNhwc(const float* from, int64_t channels, int64_t pixels, Range block, float* to);
void NhwcToNchw(const float* from, int64_t channels, int64_t pixels, Range block, float* to);

}  // namespace mete
