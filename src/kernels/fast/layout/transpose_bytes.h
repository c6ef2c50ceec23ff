// Transposition of matrices of bytes.
#pragma once

#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

// Assigns to[c * to_stride + r] = from[r * from_stride + c] for r in `rows` and c in [0, columns). Blocks of
// rows may run on any threads at once. `from` and `to` must not overlap.
void TransposeBytes(const uint8_t* from, int64_t from_stride, Range rows, int64_t columns, uint8_t* to,
                    int64_t to_stride);

// Transposes `batch` matrices without gaps, which lie one behind the other.
void TransposeBytesEach(const uint8_t* from, int64_t batch, int64_t rows, int64_t columns, uint8_t* to);

}  // namespace mete
