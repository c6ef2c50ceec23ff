// The functions of fused operators (base/fused.h) as expressions of OpenCL C over vectors of floats.
#pragma once

#include <string>

#include "base/fused.h"

namespace mete::opencl {

// Returns the value of a function of one operand, `x`, or of two, `x` and `y`: names of vectors of `width`
// floats. The device's functions are used: exp, tanh, erf and others are within 16 units in the last place,
// as OpenCL's full profile demands. Error UNIMPLEMENTED for an operator that no chain can contain.
std::string FunctionText(const Activation& function, int width, const std::string& x,
                         const std::string& y = "");

}  // namespace mete::opencl
