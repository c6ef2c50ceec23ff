// Which elements of its input an output pixel of a pool reads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/fast/pool/pool.h"

namespace mete {

// The taps of one output pixel: rows x columns pixels from element `first` of the input on.
struct PoolTaps {
  int64_t first = 0, rows = 0, columns = 0;
  int64_t row_step = 0, column_step = 0;  // elements between taps
  int64_t step = 0;                       // elements from this pixel's window to that of the next pixel
  int64_t divisor = 1;                    // of an average
};

// `pixel` is numbered over batch, height and width of the output. Without any tap inside the input, rows and
// columns are 0.
PoolTaps PoolTapsAt(const PoolShape& shape, int64_t pixel);

// Returns the columns of the output whose windows lie within the input's columns.
Range InnerColumns(const PoolShape& shape);

// Calls f(pixel, count, PoolTapsAt(shape, pixel)) for runs of `count` pixels in a row of the output. Their
// windows differ by their first element alone, which is `step` elements behind that of the pixel before.
template <class F>
void ForPoolRuns(const PoolShape& shape, Range pixels, const F& f) {
  const Range inner = InnerColumns(shape);
  for (int64_t p = pixels.begin, count; p < pixels.end; p += count) {
    const int64_t column = p % shape.window.out_width;
    const bool alike = column >= inner.begin && column < inner.end;
    count = alike ? std::min(inner.end - column, pixels.end - p) : 1;
    f(p, count, PoolTapsAt(shape, p));
  }
}

// Calls f(pixel, PoolTapsAt(shape, pixel)) for each of `pixels`, with few of its divisions.
template <class F>
void ForPoolTaps(const PoolShape& shape, Range pixels, const F& f) {
  ForPoolRuns(shape, pixels, [&](int64_t pixel, int64_t count, PoolTaps taps) {
    for (int64_t i = 0; i < count; ++i, taps.first += taps.step) f(pixel + i, taps);
  });
}

}  // namespace mete
