// How far the results of two runs are apart.
#pragma once

#include <span>

#include "mete/tensor.h"

namespace mete {

// Returns the largest difference between tensors of f32 at the same place, as a share of the largest
// magnitude in that tensor of `b`; infinite where types or shapes differ, or only one of two values is NaN.
double LargestDifference(std::span<const Tensor> a, std::span<const Tensor> b);

}  // namespace mete
