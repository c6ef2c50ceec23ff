// Softmax and normalisation over the last axis in f32. The rows are independent of each other and have
// `length` > 0 contiguous values. Blocks are ranges of rows; pointers point at row 0. The output may be the
// input.
#pragma once

#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

void SoftmaxRows(const float* input, int64_t length, Range rows, float* output);
void LogSoftmaxRows(const float* input, int64_t length, Range rows, float* output);

// Computes (x - mean) / sqrt(variance + epsilon) * scale[i] + shift[i]. `scale` and `shift` have `length`
// values or are null.
void LayerNormRows(const float* input, int64_t length, const float* scale, const float* shift, float epsilon,
                   Range rows, float* output);

// Computes x / sqrt(mean of squares + epsilon) * scale[i]. `scale` has `length` values or is null.
void RmsNormRows(const float* input, int64_t length, const float* scale, float epsilon, Range rows,
                 float* output);

}  // namespace mete
