// Which elements of its input an output pixel of a pool reads.
#pragma once

#include <cstdint>

#include "kernels/fast/pool/pool.h"

namespace mete {

// The taps of one output pixel: rows x columns pixels from element `first` of the input on.
struct PoolTaps {
  int64_t first = 0, rows = 0, columns = 0;
  int64_t row_step = 0, column_step = 0;  // elements between taps
  int64_t divisor = 1;                    // of an average
};

// `pixel` is numbered over batch, height and width of the output. Without any tap inside the input, rows and
// columns are 0.
PoolTaps PoolTapsAt(const PoolShape& shape, int64_t pixel);

}  // namespace mete
