// Softmax and normalisation over the last axis, f32: each row of `length` > 0 contiguous values on its own.
// Blocks are ranges of rows; pointers are of row 0. The output may be the input.
#pragma once

#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

void SoftmaxRows(const float* input, int64_t length, Range rows, float* output);
void LogSoftmaxRows(const float* input, int64_t length, Range rows, float* output);

// (x - mean) / sqrt(variance + epsilon) * scale[i] + shift[i]; scale and shift have `length` values or are
// null.
void LayerNormRows(const float* input, int64_t length, const float* scale, const float* shift, float epsilon,
                   Range rows, float* output);

// x / sqrt(mean of squares + epsilon) * scale[i]
void RmsNormRows(const float* input, int64_t length, const float* scale, float epsilon, Range rows,
                 float* output);

}  // namespace mete
