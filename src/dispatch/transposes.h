// How a Transpose is moved. Pure, as dispatch/products.h.
#pragma once

#include "base/permutation.h"

namespace mete {

enum class TransposeWay {
  kMatrices,   // matrices of 4-byte elements, interleaved or in tiles: kernels/fast/layout
  kRows,       // whole rows are copied
  kReference,  // element by element
};

inline TransposeWay WayOf(const Permutation& p, size_t element_bytes) {
  if (element_bytes == 4 && p.TransposesMatrices()) return TransposeWay::kMatrices;
  return p.KeepsRows() && p.dims.size() <= 4 ? TransposeWay::kRows : TransposeWay::kReference;
}

}  // namespace mete
