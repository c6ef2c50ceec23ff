// Resizes of two neighbouring axes as text: copies of the nearest pixel, or sums of the four pixels around a
// place. Which pixels these are is in tables (kernels/fast/resize/resize.h), so all coordinate modes of ONNX
// have one kernel.
#pragma once

#include <vector>

#include "kernels/fast/resize/resize.h"
#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

// Returns a table as the kernel reads it: four 32-bit words for each output row or column, the two sources
// and the bits of their weights.
std::vector<int32_t> ResizeTable(const std::vector<ResizeSource>& sources);

// Arguments: input, table of the rows, table of the columns, output. Input and output are of `type`, and
// without gaps. `vector`: elements of a pixel that a work-item computes, at most.
KernelText ResizeKernel(const ResizeShape& shape, DType type, int vector);

}  // namespace mete::opencl
