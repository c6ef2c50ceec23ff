// Maximum and average pooling in f32 over NHWC, with any window, stride, dilation and padding, and pooling
// over whole images. Blocks are ranges of output pixels (numbered over batch, height, width) with all their
// channels.
#pragma once

#include <cstdint>

#include "kernels/fast/conv/conv.h"

namespace mete {

enum class PoolKind { kMax, kAverage };

struct PoolShape {
  // The window is given by kernel_*, stride_*, dilation_* and pad_*; in_channels == out_channels. The caller
  // sets the output's size, which includes ceil mode; windows are clipped to the input.
  ConvShape window;
  PoolKind kind = PoolKind::kMax;
  // An average divides by the number of taps inside the input, or inside the padded input if this flag is
  // set. Taps beyond the padding, which ceil mode adds, never count.
  bool count_include_pad = false;
  int64_t pad_bottom = 0, pad_right = 0;  // only used with count_include_pad
};

// Computes the given output pixels. A window without any tap inside the input gives -infinity (maximum) or 0
// (average).
void RunPool(const PoolShape& shape, const float* input, Range pixels, float* output);

// Computes out[c] for the channels [channels.begin, channels.end): the maximum over the `pixels` > 0 pixels
// of one image, or their sum divided by `divisor`. `input` points at the image's first pixel, channel 0;
// `out` points at channel 0.
void GlobalPool(PoolKind kind, const float* input, int64_t pixels, int64_t pixel_stride, int64_t divisor,
                Range channels, float* out);

}  // namespace mete
