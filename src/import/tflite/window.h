// The windows of convolutions and pools.
#pragma once

#include "import/tflite/builder.h"

namespace mete::tflite_import {

struct Window {
  Ints kernel, stride, dilation = {1, 1};  // height and width; of a volume the depth is first
};

// Returns the window's attributes for an input of N, H, W, C (N, D, H, W, C); throws if a number is out of
// range.
Attributes AttributesOf(const Op& op, const Window& window, tflite::Padding padding, const Shape& in);

// Throws unless the numbers are from 1 on, and small enough to compute with.
void CheckWindow(const Op& op, const Window& window);

// Returns by how much a window that is padded on both sides is larger than its input, for one direction.
int64_t PaddingOf(tflite::Padding padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation);

}  // namespace mete::tflite_import
