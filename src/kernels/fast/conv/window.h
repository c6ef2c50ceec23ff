// A node's shapes and attributes as the fast convolutions and pools want them.
#pragma once

#include "base/attributes.h"
#include "kernels/fast/conv/conv.h"
#include "mete/tensor.h"

namespace mete {

// How the windows of a 2-D convolution or pool lie, given the NHWC shapes of input and output; groups left
// at 1.
ConvShape WindowOf(const Shape& x, const Shape& y, const Attributes& attributes, int64_t kernel_height,
                   int64_t kernel_width);

// A convolution of f32 over NHWC with weights as ONNX has them.
// It may write a slice of the channels of a wider output (graph/fused.h, 7).
ConvShape ConvShapeOf(const Shape& x, const Shape& weights, const Shape& y, const Attributes& attributes);

}  // namespace mete
