// 2-D convolution of halves over NHWC with sums of f32, with any kernel, stride, dilation and groups:
//   output[n, y, x, m] = activation(sum over taps and channels of input * weight + bias[m] + residual)
// Weights are bf16 or f16; bias, residual, sums and output are f32. A product of matrices is a convolution of
// 1x1. Inputs are rounded to bf16 beforehand (RoundsInputs). For f16 no instruction here multiplies f16 with
// sums of f32, so that inputs are f32 and only weights are halves, which saves memory. An instruction that
// does (FMLAL of Arm) would be one more step of half_dot-inl.h with inputs of f16; inputs above kMostF16 then
// need the step for floats, which reads the same packed weights.
//
// As for f32 (conv.h), the caller plans once and packs the weights once; then it computes any blocks on any
// threads, and the bits do not depend on the blocks. No kernel here allocates, starts a thread or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/precision.h"
#include "kernels/fast/conv/conv.h"
#include "kernels/fast/epilogue.h"
#include "kernels/fast/gemm/gemm.h"
#include "kernels/fast/tile/panels.h"

namespace mete {

// The largest finite f16.
inline constexpr float kMostF16 = 65504;

struct HalfConvCode;  // the code of one target and its features

struct HalfConvPlan : ConvTaps {
  ConvShape shape;
  int64_t group_channels = 0, group_outputs = 0;  // input and output channels of one group
  int64_t step = 0, steps = 0;                    // elements of a step of the sum; steps of a tap
  int64_t input_bytes = 0;                        // of an element of the inputs
  Panels split;                                   // panels of one group's outputs
  int64_t panels = 0;                             // panels of all groups, group by group
  int64_t row_step = 0;                           // pixels of a register tile
  const HalfConvCode* code = nullptr;
};

// Plans a convolution with operands of kBf16 or kF16. Requires sizes > 0, and in_channels and out_channels
// that are multiples of groups.
HalfConvPlan PlanHalfConv(const ConvShape& shape, Precision operands);

std::string TargetOf(const HalfConvPlan& plan);  // "avx512 bf16"

// Returns whether the inputs are halves (RoundInputs); otherwise they are f32.
bool RoundsInputs(const HalfConvPlan& plan);

// Returns whether an instruction multiplies halves, so that products take half of the time of those of f32.
// Other steps widen the operands, which saves only memory.
bool IsFast(const HalfConvPlan& plan);

// Returns the size of the packed weights, which end with a row of zeros, for the padding.
size_t PackedHalfConvBytes(const HalfConvPlan& plan);

// Rounds the weights of the given panels and packs them, each at a place that does not depend on the
// others; the last panel includes the zeros. The weights of a convolution, as in ONNX, are a transposed B
// whose rows are the sums of the output channels. `packed` has PackedHalfConvBytes() bytes, best aligned to
// 64 bytes. Weights of f16, times their scale, have magnitudes of at most kMostF16.
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
// The same of inputs that are not rounded.
void RunHalfConv(const HalfConvPlan& plan, const float* input, const void* packed, const Epilogue& epilogue,
                 Range pixels, Range panels, float* output, void* scratch);

// Rounds `count` inputs, to nearest and halves to even; NaNs stay NaNs. Requires RoundsInputs().
void RoundInputs(const HalfConvPlan& plan, const float* from, int64_t count, uint16_t* to);

}  // namespace mete
