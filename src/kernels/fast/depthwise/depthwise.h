// Depthwise convolution in f32 over NHWC: output channel c is input channel c convolved with its own kernel.
// The code supports any kernel size, stride and dilation, and is specialized for 3x3 and 5x5 kernels with
// stride 1 and 2.
//
// Channels are in the SIMD lanes. The caller plans once and packs the weights once; then it computes any
// blocks on any threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/conv/conv.h"

namespace mete {

struct DepthwiseCode;

struct DepthwisePlan {
  ConvShape shape;
  int64_t out_rows = 0;      // batch * out_height; a `Range rows` below counts these rows
  int64_t channel_step = 0;  // blocks of channels begin at multiples of this number
  const DepthwiseCode* code = nullptr;
};

// IsDepthwise() returns whether in_channels == out_channels == groups, which PlanDepthwise() requires, and
// there are several channels: the convolution of one channel is a product, which is 2 to 25 times as fast
// (AVX-512, kernels of 3x3, 5x5, 7x1 and 1x64).
bool IsDepthwise(const ConvShape& shape);
DepthwisePlan PlanDepthwise(const ConvShape& shape);

// Returns whether the convolution has specialized code: 3x3 and 5x5 kernels with stride 1 or 2 and no
// dilation.
inline bool HasOwnCode(const ConvShape& s) {
  return s.dilation_x == 1 && s.dilation_y == 1 && s.kernel_width == s.kernel_height &&
         (s.kernel_width == 3 || s.kernel_width == 5) && (s.stride_x == 1 || s.stride_x == 2);
}

const char* TargetOf(const DepthwisePlan& plan);

// PackDepthwise() packs weights, which ONNX stores as [channels][1][kernel_height][kernel_width], as
// [tap][channels].
size_t PackedDepthwiseBytes(const DepthwisePlan& plan);
void PackDepthwise(const DepthwisePlan& plan, const float* weights, float* packed);

// Computes the output rows `rows` (numbered over batch and height) of the channels `channels`, which begin at
// a multiple of channel_step and end at another multiple or at the last channel. All pointers are those of
// the whole tensors.
void RunDepthwise(const DepthwisePlan& plan, const float* input, const float* packed,
                  const Epilogue& epilogue, Range rows, Range channels, float* output);

}  // namespace mete
