// Maximum and average pooling in f32 over NHWC: any window, stride, dilation and padding; and over whole
// images. Blocks are output pixels (numbered over batch, height, width); all channels of a pixel at once.
#pragma once

#include <cstdint>

#include "kernels/fast/conv/conv.h"

namespace mete {

enum class PoolKind { kMax, kAverage };

struct PoolShape {
  // The window is window.kernel_*, stride_*, dilation_*, pad_*; in_channels == out_channels. The output's
  // size is the caller's (ceil mode included): windows are clipped to the input.
  ConvShape window;
  PoolKind kind = PoolKind::kMax;
  // An average divides by the window's taps inside the input, or, if set, inside the padded input (so what
  // ceil mode adds beyond the padding never counts).
  bool count_include_pad = false;
  int64_t pad_bottom = 0, pad_right = 0;  // only used with count_include_pad
};

// A window without any tap inside the input gives -infinity (maximum) or 0 (average).
void RunPool(const PoolShape& shape, const float* input, Range pixels, float* output);

// out[c] over the `pixels` > 0 pixels of one image, for channels [channels.begin, channels.end): the maximum,
// or the sum divided by `divisor`. `input` is at the image's first pixel, channel 0; `out` at channel 0.
void GlobalPool(PoolKind kind, const float* input, int64_t pixels, int64_t pixel_stride, int64_t divisor,
                Range channels, float* out);

}  // namespace mete
