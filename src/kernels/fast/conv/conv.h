// 2-D convolution in f32 over NHWC, with any kernel, stride, dilation and groups. A 1-D convolution has
// height 1.
//   output[n, y, x, m] = activation(sum over taps and channels of input * weight + bias[m] + residual)
//
// The convolution needs no im2col: a table holds, for every tap and output pixel, a pointer to the channels
// of the input pixel (or to zeros), and these pointers feed the register tile of the matrix product. As for
// the matrix product, the caller plans once and packs the weights once; then it computes any blocks on any
// threads, and the bits do not depend on the blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/epilogue.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {

// All sizes and strides are in elements. Only the top and the left padding are given: the padding on the
// other sides follows from the output's size. All padding reads as zero. A negative padding leaves out
// inputs.
struct ConvShape {
  int64_t batch = 1;
  int64_t in_height = 1, in_width = 1, in_channels = 1;  // in_channels counts all groups
  int64_t out_height = 1, out_width = 1, out_channels = 1;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_y = 1, stride_x = 1;
  int64_t dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t groups = 1;
  // Elements from a pixel to the next; 0 means the number of channels. A larger stride addresses a slice of
  // the channels of a wider tensor, for example an output that is written directly into its place in a
  // concatenation.
  int64_t in_pixel_stride = 0, out_pixel_stride = 0;
  // Elements from an output row of the only image to the next, in a residual as well; 0 means that the rows
  // follow each other. A larger stride leaves places between the rows for those of other convolutions
  // (kernels/fast/conv/phases.h).
  int64_t out_row_stride = 0;

  int64_t out_pixels() const { return batch * out_height * out_width; }
};

// How a register tile reads the inputs of a convolution: by a table with a pointer for each tap of each pixel
// of a pass (kernels/fast/conv/indirection.h).
struct ConvTaps {
  bool joined = false;  // the taps of a kernel row are read as one run of kernel_width * channels values
  int64_t taps = 0, tap_length = 0;  // kernel rows if `joined` is set; elements that a tap reads
  int64_t pass = 0;                  // pixels of one pass
};

struct ConvCode;

struct ConvPlan : ConvTaps {
  ConvShape shape;
  int64_t group_channels = 0, group_outputs = 0;  // input and output channels of one group
  Panels split;                                   // panels of one group's outputs
  int64_t panels = 0;    // panels of all groups, group by group; a `Range panels` below counts them
  int64_t row_step = 0;  // pixels of a register tile
  bool as_gemm = false;  // 1x1, stride 1, no padding, one group: RunGemm() computes it
  GemmPlan gemm;  // the product of one group: its panels are `split`, its tile and dots the convolution's
  const ConvCode* code = nullptr;
};

// Plans a convolution. Requires sizes > 0, and in_channels and out_channels that are multiples of
// groups. `most_vectors` is as in PlanGemm(): one of GemmTileWidths(out_channels / groups), or 0. GemmTiles()
// of the plan's `gemm` returns the candidate tiles.
ConvPlan PlanConv(const ConvShape& shape, int64_t most_vectors = 0);

const char* TargetOf(const ConvPlan& plan);

// Returns the size of the packed weights, which end with a row of zeros that stands for the padding.
size_t PackedConvBytes(const ConvPlan& plan);

// Packs the given panels, each at a place that does not depend on the others; the last panel includes the
// zeros. `weights` is [out_channels][in_channels / groups][kernel_height][kernel_width] as in ONNX, from the
// output channel `first` on. `packed` has PackedConvBytes() bytes, best aligned to 64 bytes.
void PackConv(const ConvPlan& plan, const float* weights, Range panels, float* packed, int64_t first = 0);

// Returns the output channels of a panel.
Range PanelChannels(const ConvPlan& plan, int64_t panel);

// Returns the size of one thread's working memory, which does not depend on the block. Its contents need not
// survive a call.
size_t ConvScratchBytes(const ConvPlan& plan);

// Computes the output pixels `pixels` (numbered over batch, height, width) and the output channels of
// `panels`. `input`, `output` and the epilogue's pointers are those of the whole tensors. `scratch` has
// ConvScratchBytes() bytes, aligned to 8 bytes, and no other thread uses it during the call.
void RunConv(const ConvPlan& plan, const float* input, const float* packed, const Epilogue& epilogue,
             Range pixels, Range panels, float* output, void* scratch);

}  // namespace mete
