// Selects the way in which a Transpose moves its elements. The result depends only on the permutation and the
// element size, never on the machine.
#pragma once

#include "base/permutation.h"

namespace mete {

enum class TransposeWay {
  kMatrices,   // matrices of 4-byte elements are transposed by interleaving or in tiles: kernels/fast/layout
  kRows,       // whole rows are copied
  kReference,  // elements are copied one by one
};

inline TransposeWay WayOf(const Permutation& p, size_t element_bytes) {
  if (element_bytes == 4 && p.TransposesMatrices()) return TransposeWay::kMatrices;
  return p.KeepsRows() && p.dims.size() <= 4 ? TransposeWay::kRows : TransposeWay::kReference;
}

}  // namespace mete
