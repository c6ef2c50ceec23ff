// The strips of a convolution whose output rows may lie apart (ConvShape::out_row_stride).
#pragma once

#include <algorithm>

#include "kernels/fast/conv/conv.h"

namespace mete {

// Calls run(strip) for the strip `s`, which has the inputs of the pixels of `pass`, with its outputs from the
// channel `column` on. A strip has one distance between its outputs, so where rows lie apart it is called for
// each row of the output.
template <class Strip, class Run>
void RunByRows(const ConvShape& shape, Strip s, Range pass, int64_t column, float* output, const Run& run) {
  if (shape.out_row_stride == 0) {
    s.PointAt(output, pass.begin, column);
    return run(s);
  }
  const int64_t width = shape.out_width;
  for (int64_t pixel = pass.begin; pixel < pass.end;) {
    const int64_t y = pixel / width, end = std::min(pass.end, (y + 1) * width);
    s.row_count = static_cast<size_t>(end - pixel);
    const int64_t row = y * shape.out_row_stride;
    s.PointAt(output + row, pixel - y * width, column);
    if (s.residual) s.residual += row;
    run(s);
    s.rows += s.row_count;
    pixel = end;
  }
}

}  // namespace mete
