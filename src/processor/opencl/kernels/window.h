// Kernels of windows over NHWC whose channels do not mix, as text: depthwise convolutions and pools. A
// work-item computes one vector of channels of one output pixel, or of some neighbours in a row.
#pragma once

#include <optional>

#include "kernels/fast/pool/pool.h"
#include "processor/opencl/kernels/convolution.h"

namespace mete::opencl {

// The levels of a pool's bytes: a byte stands for (byte - zero) * scale.
struct BytePool {
  float x_scale = 1, x_zero = 0, y_scale = 1, y_zero = 0;
};

struct DepthwiseSpec {
  ConvShape shape;  // in_channels == out_channels == groups
  DType input = DType::kF32, weights = DType::kF32;
  DType output = DType::kF32;                 // of the residual, too
  int64_t input_first = 0, output_first = 0;  // as in ConvSpec
  Activation activation;
  bool bias = false;  // f32
  bool residual = false;
  // As in ConvSpec (convolution.h), except that `weights` hold weights minus their zero point, i8 or f16, and
  // that sums are f32: with less than 2^24 / 255^2 taps, 258, they are exact.
  std::optional<ByteSums> bytes;
};

// Arguments: input, weights as [kH][kW][channels], for sums of bytes the scales (f32, one for each channel),
// bias (f32, or i32 of sums of bytes) and residual (if there is one), output. `vector`:
// channels of a work-item; `columns`: its pixels. Error INVALID_ARGUMENT if the convolution is not depthwise.
KernelText DepthwiseKernel(const DepthwiseSpec& spec, int vector, int columns);

// Arguments: input, output, both of `type`. A pool over whole images has a window of their size.
// `shape.window` has in_channels == out_channels. A window without a tap in the input gives -infinity
// (maximum; of bytes the least one) or 0 (average). `bytes`: of an average of bytes, which has the bits of
// the CPU's kernel where divisions are rounded correctly.
KernelText PoolKernel(const PoolShape& shape, DType type, int vector,
                      const std::optional<BytePool>& bytes = std::nullopt);

}  // namespace mete::opencl
