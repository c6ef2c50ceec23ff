// Where in f32: each output element is that of one of two inputs, as a mask says, over any broadcast.
#pragma once

#include <cstdint>

#include "kernels/fast/elementwise/broadcast.h"
#include "kernels/fast/epilogue.h"

namespace mete {

struct SelectPlan {
  BroadcastInput mask, yes, no;
};

// Computes the output elements [range.begin, range.end): `yes` where the byte of the mask is not 0, `no`
// elsewhere. All pointers are those of the whole tensors.
void RunSelect(const SelectPlan& plan, const uint8_t* mask, const float* yes, const float* no, Range range,
               float* output);

}  // namespace mete
