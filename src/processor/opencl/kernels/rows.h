// Softmax and normalisations over the innermost axis as text: kernels whose work-groups each compute a row.
#pragma once

#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

enum class RowFunction : uint8_t {
  kSoftmax,
  kLogSoftmax,
  kLayerNorm,  // (x - mean) / sqrt(variance + epsilon) * scale[i] + shift[i]
  kRmsNorm,    // x / sqrt(mean of squares + epsilon) * scale[i]
};

struct RowSpec {
  RowFunction function = RowFunction::kSoftmax;
  int64_t rows = 1, length = 1;  // without gaps
  DType type = DType::kF32;      // of input and output; all else is f32
  float epsilon = 0;
  // Of the normalisations: f32, one for each run of elements in each of some rows, which repeat. Layers have
  // one for each element of one row, (1, 1); instances of NCHW one for each channel, (channels, length);
  // groups of channels (groups, pixels of an image).
  bool scale = false, shift = false;
  int64_t affine_rows = 1, affine_run = 1;  // the run divides the length

  int64_t affine() const { return affine_rows * (length / affine_run); }  // values of scale, and of shift
};

// Arguments: input, scale and shift (if there is one), output, which may be the input. `vector`: elements
// that a work-item reads at once. `lanes`: work-items that share a row, a power of two; 1 on a CPU, which
// needs no local memory then.
KernelText RowKernel(const RowSpec& spec, int vector, int lanes);

}  // namespace mete::opencl
