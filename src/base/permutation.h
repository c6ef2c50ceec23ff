// The permutation of a Transpose, reduced to the dimensions that matter for the copy.
#pragma once

#include "base/attributes.h"
#include "mete/tensor.h"

namespace mete {

struct Permutation {
  Ints dims;  // the input's dimensions
  Ints perm;  // as in ONNX's Transpose: axis i of the output is axis perm[i] of the input

  bool KeepsRows() const;           // true if the last dimension stays the last
  bool TransposesMatrices() const;  // true if only the last two of two or three dimensions change places
};

// Joins neighbouring dimensions that stay together and drops dimensions of 1: 1x3x8x9 with the order 0, 2, 3,
// 1 becomes 3x72 with the order 1, 0. `in` must be known. `perm` has each axis once; an empty `perm` reverses
// the axes, as in ONNX.
Permutation JoinedPermutation(const Shape& in, Ints perm);

// Returns true if a Transpose only moves dimensions of 1: the elements then stay in their order. `perm` must
// not be empty.
bool MovesOnlyOnes(const Shape& in, const Ints& perm);

}  // namespace mete
