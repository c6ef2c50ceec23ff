// The indirection table, which turns a convolution into a matrix product: for each tap and each output pixel
// of a pass it holds a pointer to the inputs.
#pragma once

#include "kernels/fast/conv/conv.h"

namespace mete {

// Sets table[tap * plan.pass + i] for all taps of the plan and the pixels pixels.begin + i. `zeros` has at
// least as many zeros as a tap reads, including the group's offset. If plan.joined is set, `joined` has room
// for plan.taps * plan.pass * plan.tap_length floats: rows of taps that cross the input's edge are copied to
// it, with zeros for the padding. Otherwise `joined` is unused.
void FillIndirection(const ConvPlan& plan, const float* input, const float* zeros, Range pixels,
                     const float** table, float* joined);

}  // namespace mete
