// Conversions between f32 and halves (bf16, f16). All targets give the bits of base/half.h.
#pragma once

#include <cstdint>

#include "kernels/fast/gemm/gemm.h"
#include "mete/tensor.h"

namespace mete {

// Computes the elements in `range`. `halves` is kF16 or kBF16.
void WidenHalves(DType halves, const uint16_t* x, Range range, float* y);
// Rounds to nearest, ties to even.
void RoundToHalves(DType halves, const float* x, Range range, uint16_t* y);

}  // namespace mete
