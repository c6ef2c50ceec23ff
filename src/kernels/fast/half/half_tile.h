// The terms of the register tile over halves. Rows, panels and taps are those of kernels/fast/tile/tile.h;
// the sums are of f32 and stay in registers from the first to the last product.
//
//   step   one, two or four neighbouring inputs of a tap, as many as an instruction multiplies
//          (half_dot-inl.h); the last step of a tap is filled up with weights of zero
//   panel  weights of neighbouring columns, stored as [tap][step][width][elements of a step]
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/tile/tile.h"

namespace mete {

// The work of one strip: the rows of one pass and the columns of one panel. Input: uint16_t for halves, or
// float.
template <class Input>
struct HalfStrip : TileOutput {
  const Input* const* rows;  // rows[tap * tap_stride + row] + offset points at `k` inputs
  size_t tap_stride;
  size_t row_count;
  size_t offset;
  size_t taps, k;
  const uint16_t* panel;
  size_t width;  // packed columns of the panel
};

}  // namespace mete
