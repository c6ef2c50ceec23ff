// 2-D convolution of bf16 over NHWC with sums of f32, with any kernel, stride, dilation and groups:
//   output[n, y, x, m] = activation(sum over taps and channels of input * weight + bias[m] + residual)
// Inputs and weights are bf16; bias, residual, sums and output are f32. A product of matrices is a
// convolution of 1x1.
//
// As for f32 (conv.h), the caller plans once and packs the weights once; then it computes any blocks on any
// threads, and the bits do not depend on the blocks. No kernel here allocates, starts a thread or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/fast/conv/conv.h"
#include "kernels/fast/epilogue.h"
#include "kernels/fast/gemm/gemm.h"
#include "kernels/fast/tile/panels.h"

namespace mete {

struct HalfConvCode;  // the code of one target and its features

struct HalfConvPlan : ConvTaps {
  ConvShape shape;
  int64_t group_channels = 0, group_outputs = 0;  // input and output channels of one group
  int64_t pairs = 0;                              // of a tap
  Panels split;                                   // panels of one group's outputs
  int64_t panels = 0;                             // panels of all groups, group by group
  int64_t row_step = 0;                           // pixels of a register tile
  const HalfConvCode* code = nullptr;
};

// Plans a convolution. Requires sizes > 0, pads >= 0, and in_channels and out_channels that are multiples of
// groups.
HalfConvPlan PlanHalfConv(const ConvShape& shape);

std::string TargetOf(const HalfConvPlan& plan);  // "avx512 bf16"

// Returns whether an instruction multiplies bf16, so that products take half of the time of those of f32.
// Other processors widen the operands, which saves only memory.
bool IsFast(const HalfConvPlan& plan);

// Returns the size of the packed weights, which end with a row of zeros, for the padding.
size_t PackedHalfConvBytes(const HalfConvPlan& plan);

// Rounds the weights of the given panels to bf16 and packs them, each at a place that does not depend on the
// others; the last panel includes the zeros. The weights of a convolution, as in ONNX, are a transposed B
// whose rows are the sums of the output channels. `packed` has PackedHalfConvBytes() bytes, best aligned to
// 64 bytes.
void PackHalfConv(const HalfConvPlan& plan, const GemmWeights& weights, Range panels, void* packed);

// Returns the output channels of a panel.
Range PanelChannels(const HalfConvPlan& plan, int64_t panel);

// Returns the size of one thread's working memory.
size_t HalfConvScratchBytes(const HalfConvPlan& plan);

// Computes the output pixels `pixels` (numbered over batch, height, width) and the output channels of
// `panels`. `input`, `output` and the epilogue's pointers are those of the whole tensors. `scratch` has
// HalfConvScratchBytes() bytes, aligned to 8 bytes.
void RunHalfConv(const HalfConvPlan& plan, const uint16_t* input, const void* packed,
                 const Epilogue& epilogue, Range pixels, Range panels, float* output, void* scratch);

// Rounds `count` values to bf16, to nearest and halves to even; NaNs stay NaNs.
void RoundToBf16(const float* from, int64_t count, uint16_t* to);

}  // namespace mete
