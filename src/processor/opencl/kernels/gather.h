// Gathering of slices by indices as text: rows of an embedding, or slices along any one axis.
#pragma once

#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

struct GatherSpec {
  int64_t outer = 1, axis = 1, inner = 1;  // the input is [outer][axis][inner]
  int64_t indices = 1;                     // the output is [outer][indices][inner]
  DType type = DType::kF32;                // of input and output: f32, f16, u8, i32 or i64
  DType index = DType::kI64;               // or i32; a negative index counts from the axis's end
};

// Arguments: input, indices, output. A kernel cannot fail: an index outside the axis reads the nearest slice,
// so a caller that must refuse such an index looks at the indices itself. `vector`: elements of a work-item,
// at most.
KernelText GatherKernel(const GatherSpec& spec, int vector);

}  // namespace mete::opencl
