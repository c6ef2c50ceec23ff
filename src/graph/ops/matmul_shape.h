// numpy's matmul of two shapes: batched, broadcast, with vectors promoted. For every operator that multiplies matrices.
#pragma once

#include "graph/operators.h"

namespace mete {

inline Shape MatMulShape(const InferContext& c, const Shape& a, const Shape& b) {
  if (a.rank() < 1 || b.rank() < 1) c.Bad("matrices must have at least one dimension; got {} and {}", ToString(a), ToString(b));
  const int ra = a.rank(), rb = b.rank();
  const int64_t inner_b = rb == 1 ? b[0] : b[rb - 2];
  if (a.back() != inner_b) c.Bad("inner dimensions differ; got {} and {} ({} times {})", a.back(), inner_b, ToString(a), ToString(b));
  const Shape batch_a(a.dims().first(size_t(std::max(0, ra - 2)))), batch_b(b.dims().first(size_t(std::max(0, rb - 2))));
  Shape out = BroadcastShapes(c, batch_a, batch_b);
  if (ra > 1) out.push_back(a[ra - 2]);
  if (rb > 1) out.push_back(b[rb - 1]);
  return out;
}

}  // namespace mete
