// A tensor in which no two elements are the same, for tests.
#pragma once

#include <numeric>
#include <vector>

#include "mete/tensor.h"

namespace mete {

// Returns the floats 0, 1, 2 and so on.
inline Tensor Counting(const Shape& shape) {
  std::vector<float> values(size_t(shape.Elements()));
  std::iota(values.begin(), values.end(), 0.f);
  return Tensor::Floats(shape, values);
}

}  // namespace mete
