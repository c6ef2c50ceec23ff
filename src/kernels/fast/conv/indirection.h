// The indirection table, which turns a convolution into a matrix product: for each tap and each output pixel
// of a pass it holds a pointer to the inputs.
#pragma once

#include "kernels/fast/conv/conv.h"

namespace mete {

// Returns the taps of a convolution over elements of `element_bytes` bytes, for register tiles of `row_step`
// pixels.
ConvTaps PlanTaps(const ConvShape& shape, int64_t row_step, int64_t element_bytes);

// Returns the size of the table and of the copies of one pass.
size_t TableBytes(const ConvTaps& taps, int64_t element_bytes);

// Sets table[tap * taps.pass + i] for all taps and the pixels pixels.begin + i. `padding` has at least as
// many elements as a tap reads, including the group's offset; they are equal. If taps.joined is set, `joined`
// has room for taps.taps * taps.pass * taps.tap_length elements: rows of taps that cross the input's edge are
// copied to it, with padding. Otherwise `joined` is unused. T: float, uint16_t or
// uint8_t.
template <class T>
void FillIndirection(const ConvShape& shape, const ConvTaps& taps, const T* input, const T* padding,
                     Range pixels, const T** table, T* joined);

}  // namespace mete
