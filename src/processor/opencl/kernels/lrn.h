// Local response normalisation across the channels of pixels (kernels/fast/lrn/lrn.h) as text.
#pragma once

#include "kernels/fast/lrn/lrn.h"
#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

// Arguments: input, output, each [pixels][channels] of `type`. `vector`: channels of a work-item, at most.
// Unlike the CPU's kernel it takes any number of channels and any size of a window.
KernelText LrnKernel(const LrnShape& shape, int64_t pixels, DType type, int vector);

}  // namespace mete::opencl
