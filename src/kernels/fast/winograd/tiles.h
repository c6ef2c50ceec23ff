// The position of one of Winograd's tiles in memory, for the transforms.
#pragma once

#include <cstdint>

namespace mete {

// The range [begin, end) of a tile's rows or columns that are inside the input; all others read as zero.
struct TileRange {
  int begin = 0, end = 0;
  bool Has(int i) const { return i >= begin && i < end; }
};

// T: float, or uint8_t for bytes of either sign. All strides are in elements.
template <class T>
struct InputTile {
  // Pixel (0, 0), channel 0. It is outside the input if `rows` or `columns` do not begin at 0.
  const T* origin;
  int64_t row_stride, pixel_stride;
  TileRange rows, columns;
};

// All pointers of the following point at pixel (0, 0), channel 0 of the block's channels.
template <class T>
struct OutputPlace {
  T* output;
  int64_t row_stride, pixel_stride;
  int rows, columns;  // number of rows and columns inside the output, 1 .. m
};

struct OutputTile : OutputPlace<float> {
  const float* residual;  // or null
  int64_t residual_row_stride, residual_stride;
  const float* bias;  // or null
};

struct ByteOutputTile : OutputPlace<uint8_t> {
  const float *bias, *scale;
};

}  // namespace mete
