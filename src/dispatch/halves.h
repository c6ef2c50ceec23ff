// The halves (kernels/fast/half) that this processor multiplies faster than f32.
#pragma once

#include "base/precision.h"
#include "dispatch/conv_algorithms.h"

namespace mete {

// Returns kF16 or kBf16, the more exact one if both are fast; kF32: neither is.
Precision FastHalf();

// Returns the algorithm with these operands: kDirect for kF32.
ConvAlgorithm AlgorithmWith(Precision operands);

}  // namespace mete
