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
  bool scale = false, shift = false;  // f32, `length` values each; of the normalisations
};

// Arguments: input, scale and shift (if there is one), output, which may be the input. `vector`: elements
// that a work-item reads at once. `lanes`: work-items that share a row, a power of two; 1 on a CPU, which
// needs no local memory then.
KernelText RowKernel(const RowSpec& spec, int vector, int lanes);

}  // namespace mete::opencl
