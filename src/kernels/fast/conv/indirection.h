// The table of pointers that makes a convolution look like a matrix product: for each tap and each output
// pixel of a pass, where its inputs begin.
#pragma once

#include "kernels/fast/conv/conv.h"

namespace mete {

// table[tap * plan.pass + i] for the taps of plan.taps and pixel pixels.begin + i.
// `zeros`: at least as many as a tap reads, group offset included. `joined`: room for
// plan.taps * plan.pass * plan.tap_length floats if plan.joined (else unused): rows of taps that straddle the
// input's edge are copied there, with their zeros.
void FillIndirection(const ConvPlan& plan, const float* input, const float* zeros, Range pixels,
                     const float** table, float* joined);

}  // namespace mete
