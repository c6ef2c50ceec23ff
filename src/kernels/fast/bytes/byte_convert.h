// Conversions between f32 and bytes with one scale and one zero point, and of sums to f32. All targets give
// the same bits as the reference.
#pragma once

#include <cstdint>

#include "kernels/fast/bytes/byte_elementwise.h"

namespace mete {

// Computes y[i] = round(x[i] / scale) + zero, saturated, for the elements in `range`. A NaN becomes the least
// byte.
void RunQuantize(const ByteScale& of, const float* x, Range range, uint8_t* y);

// Computes y[i] = (x[i] - zero) * scale.
void RunDequantize(const ByteScale& of, const uint8_t* x, Range range, float* y);

struct FloatBounds {
  float least = 0, most = 0;
};

// Returns the least and the largest of 0 and the elements in `range`. A NaN is ignored.
FloatBounds BoundsOf(const float* x, Range range);

// Replaces the sums, `count` of 32-bit integers, by sum * scale[i] + bias[i] in f32; the product is rounded.
// `bias` may be null.
void ScaleSums(const float* scale, const float* bias, int64_t count, void* sums);

}  // namespace mete
