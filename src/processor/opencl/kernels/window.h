// Kernels of windows over NHWC whose channels do not mix, as text: depthwise convolutions and pools. A
// work-item computes one vector of channels of one output pixel, or of some neighbours in a row.
#pragma once

#include "kernels/fast/pool/pool.h"
#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

struct DepthwiseSpec {
  ConvShape shape;  // in_channels == out_channels == groups
  DType input = DType::kF32, weights = DType::kF32;
  DType output = DType::kF32;                 // of the residual, too
  int64_t input_first = 0, output_first = 0;  // as in ConvSpec
  Activation activation;
  bool bias = false;  // f32
  bool residual = false;
};

// Arguments: input, weights as [kH][kW][channels], bias and residual (if there is one), output. `vector`:
// channels of a work-item; `columns`: its pixels. Error INVALID_ARGUMENT if the convolution is not depthwise.
KernelText DepthwiseKernel(const DepthwiseSpec& spec, int vector, int columns);

// Arguments: input, output, both of `type`. A pool over whole images has a window of their size.
// `shape.window` has in_channels == out_channels. A window without a tap in the input gives -infinity
// (maximum) or 0 (average).
KernelText PoolKernel(const PoolShape& shape, DType type, int vector);

}  // namespace mete::opencl
