// 2-D convolution in f32 over NHWC: any kernel, stride, dilation and groups. 1-D: height 1.
// output[n, y, x, m] = activation(sum over taps and channels of input * weight + bias[m] + residual).
//
// No im2col: for every tap and output pixel a pointer to that pixel's channels (or to zeros) feeds the same
// register tile as the matrix product. As there: plan, pack once, then any blocks on any threads, with the
// same bits whatever the blocks are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/epilogue.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {

// All in elements. Only the top and left padding matter: what lies beyond the input on the other sides
// follows from the output's size and reads as zero.
struct ConvShape {
  int64_t batch = 1;
  int64_t in_height = 1, in_width = 1, in_channels = 1;  // channels of all groups together
  int64_t out_height = 1, out_width = 1, out_channels = 1;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_y = 1, stride_x = 1;
  int64_t dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t groups = 1;
  // Elements between neighbouring pixels; 0: as many as there are channels. A larger one addresses a slice of
  // channels of a wider tensor (an output written straight into its place in a concatenation).
  int64_t in_pixel_stride = 0, out_pixel_stride = 0;

  int64_t out_pixels() const { return batch * out_height * out_width; }
};

struct ConvCode;

struct ConvPlan {
  ConvShape shape;
  int64_t group_channels = 0, group_outputs = 0;  // of one group
  Panels split;                                   // of one group's outputs
  int64_t panels = 0;    // of all groups together, group by group: what Range panels below counts
  int64_t row_step = 0;  // pixels of a register tile
  int64_t pass = 0;      // pixels that are worked on at a time
  bool as_gemm = false;  // 1x1, stride 1, no padding, one group: handed to RunGemm
  bool joined = false;   // a kernel row's taps are read as one run of kernel_width * channels values
  int64_t taps = 0, tap_length = 0;  // as the tile sees them: kernel rows of long runs if joined
  GemmPlan gemm;  // of one group: its panels are `split`, its tile is that of the convolution
  const ConvCode* code = nullptr;
};

// Every size > 0, pads >= 0, in_channels and out_channels multiples of groups. `most_vectors`: as in
// PlanGemm, one of GemmTileWidths(out_channels / groups) or 0. What tiles there are to choose from says
// GemmTiles() of the plan's `gemm`.
ConvPlan PlanConv(const ConvShape& shape, int64_t most_vectors = 0);

const char* TargetOf(const ConvPlan& plan);

// The packed weights end with a row of zeros that stands for the padding.
size_t PackedConvBytes(const ConvPlan& plan);

// `weights`: [out_channels][in_channels / groups][kernel_height][kernel_width], as ONNX has them.
// `packed`: PackedConvBytes, best aligned to 64 bytes. Writes the given panels, and the zeros with the last
// one: each panel's place does not depend on the others.
void PackConv(const ConvPlan& plan, const float* weights, Range panels, float* packed);

// One thread's working memory, independent of the block; its contents need not survive a call.
size_t ConvScratchBytes(const ConvPlan& plan);

// Computes the output pixels `pixels` (numbered over batch, height, width) and the output channels of
// `panels`. `input`, `output` and the epilogue's pointers are those of the whole tensors.
// `scratch`: ConvScratchBytes, aligned to 8 bytes, not shared with another thread's call.
void RunConv(const ConvPlan& plan, const float* input, const float* packed, const Epilogue& epilogue,
             Range pixels, Range panels, float* output, void* scratch);

}  // namespace mete
