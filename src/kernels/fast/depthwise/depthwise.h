// Depthwise convolution in f32 over NHWC: output channel c is input channel c convolved with its own kernel.
// Any kernel size, stride and dilation; square kernels 3 and 5 wide at stride 1 and 2 have their own code.
//
// Channels lie in the SIMD lanes. As everywhere here: plan, pack once, then any blocks on any threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/conv/conv.h"

namespace mete {

struct DepthwiseCode;

struct DepthwisePlan {
  ConvShape shape;
  int64_t out_rows = 0;      // batch * out_height: what Range rows counts
  int64_t channel_step = 0;  // blocks of channels begin at multiples of it
  const DepthwiseCode* code = nullptr;
};

// Needs in_channels == out_channels == groups.
bool IsDepthwise(const ConvShape& shape);
DepthwisePlan PlanDepthwise(const ConvShape& shape);

// Square kernels 3 and 5 wide at stride 1 and 2.
inline bool HasOwnCode(const ConvShape& s) {
  return s.dilation_x == 1 && s.dilation_y == 1 && s.kernel_width == s.kernel_height &&
         (s.kernel_width == 3 || s.kernel_width == 5) && (s.stride_x == 1 || s.stride_x == 2);
}

const char* TargetOf(const DepthwisePlan& plan);

// `weights` as ONNX has them: [channels][1][kernel_height][kernel_width]. `packed`: [tap][channels].
size_t PackedDepthwiseBytes(const DepthwisePlan& plan);
void PackDepthwise(const DepthwisePlan& plan, const float* weights, float* packed);

// Computes output rows `rows` (numbered over batch and height) and channels `channels` (which begin at a
// multiple of channel_step and end at one or at the last channel). All pointers are of the whole tensors.
void RunDepthwise(const DepthwisePlan& plan, const float* input, const float* packed,
                  const Epilogue& epilogue, Range rows, Range channels, float* output);

}  // namespace mete
