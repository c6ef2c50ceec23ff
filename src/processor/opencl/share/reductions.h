// Reductions, for nodes that are one and for pools over whole images.
#pragma once

#include <vector>

#include "processor/opencl/kernels/reduce.h"
#include "processor/opencl/share/lowering.h"

namespace mete::opencl {

// Appends the launch that reduces the axes of the input, whose other dimensions the output has.
void LaunchReduce(Lowering& to, ReduceFunction function, const std::vector<int>& axes, const Array& input,
                  const Array& output);

}  // namespace mete::opencl
