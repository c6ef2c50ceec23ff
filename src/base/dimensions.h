// Shapes with one dimension more or less.
#pragma once

#include "mete/tensor.h"

namespace mete {

// Returns `shape` with a dimension of `size` before its dimension `axis`; `axis` may be the rank.
inline Shape WithDimension(const Shape& shape, int axis, int64_t size) {
  Shape out;
  for (int i = 0; i <= shape.rank(); ++i) {
    if (i == axis) out.push_back(size);
    if (i < shape.rank()) out.push_back(shape[i]);
  }
  return out;
}

// Returns `shape` without its dimension `axis`.
inline Shape WithoutDimension(const Shape& shape, int axis) {
  Shape out;
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis) out.push_back(shape[i]);
  return out;
}

}  // namespace mete
