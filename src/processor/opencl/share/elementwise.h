// Chains of element-wise functions, for nodes that are one and for parts of others.
#pragma once

#include <vector>

#include "base/fused.h"
#include "processor/opencl/share/lowering.h"

namespace mete::opencl {

// Appends the launch that computes a program over inputs that are broadcast to the output.
void LowerProgram(Lowering& to, const FusedProgram& program, const std::vector<Array>& inputs,
                  const Array& output);

}  // namespace mete::opencl
