// Resizes two neighbouring axes of a tensor of f32, of which the elements behind them are contiguous, as the
// channels of NHWC are: by copies of the nearest pixel, or by sums of the four pixels around a place.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fast/epilogue.h"

namespace mete {

// Where an output row or column comes from. The weights are used for sums only.
struct ResizeSource {
  int64_t first = 0, second = 0;  // rows or columns of the input
  float first_weight = 1, second_weight = 0;
};

struct ResizeShape {
  bool nearest = false;  // copies `first`
  int64_t images = 1;    // product of the dimensions before the two axes
  int64_t in_height = 1, in_width = 1;
  int64_t pixel = 1;                        // elements of a pixel
  std::vector<ResizeSource> rows, columns;  // one for each of the output

  int64_t out_rows() const { return images * int64_t(rows.size()); }
};

// Computes the given rows of the output, counted over all images.
void RunResize(const ResizeShape& shape, const float* input, Range rows, float* output);

}  // namespace mete
