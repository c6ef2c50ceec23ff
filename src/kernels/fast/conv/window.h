// Conversion of a node's shapes and attributes to the ConvShape of the fast convolutions and pools.
#pragma once

#include "base/attributes.h"
#include "kernels/fast/conv/conv.h"
#include "mete/tensor.h"

namespace mete {

// Returns the sizes and windows of a 2-D convolution or pool for the NHWC shapes x of its input and y of its
// output. The number of groups stays 1.
ConvShape WindowOf(const Shape& x, const Shape& y, const Attributes& attributes, int64_t kernel_height,
                   int64_t kernel_width);

// Returns the shape of an f32 convolution over NHWC whose weights have ONNX's layout. The convolution may
// write a slice of the channels of a wider output (graph/fused.h, section 7).
ConvShape ConvShapeOf(const Shape& x, const Shape& weights, const Shape& y, const Attributes& attributes);

}  // namespace mete
