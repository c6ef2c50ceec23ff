// What a transpose moves, without what makes no difference to it.
#pragma once

#include "base/attributes.h"
#include "mete/tensor.h"

namespace mete {

struct Permutation {
  Ints dims;  // of the input
  Ints perm;  // as ONNX's Transpose has it: the input's axis of each of the output's

  bool KeepsRows() const;           // whether the last dimension stays the last
  bool TransposesMatrices() const;  // whether the last two change places, and no others
};

// With neighbouring dimensions joined that stay together, and dimensions of 1 dropped. `in` must be known;
// `perm` has each of its axes once, and none for the reverse of them, as in ONNX.
Permutation JoinedPermutation(const Shape& in, Ints perm);

}  // namespace mete
