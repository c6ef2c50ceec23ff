// The shape of a matrix product by the rule of numpy's matmul: batch dimensions are broadcast, and vectors
// are promoted to matrices. All operators that multiply matrices use it.
#pragma once

#include <algorithm>

#include "graph/operators.h"

namespace mete {

// Returns the shape of the product of inputs `left` and `right`.
inline Shape MatMulShape(const InferContext& c, int left, int right) {
  c.NeedRank(left, 1);
  c.NeedRank(right, 1);
  const Shape &a = c.shape(left), &b = c.shape(right);
  const int ra = a.rank(), rb = b.rank();
  const int64_t inner_b = rb == 1 ? b[0] : b[rb - 2];
  if (a.back() != inner_b)
    c.Bad("inner dimensions differ; got {} and {}, expected {} to be {}", ToString(a), ToString(b), inner_b,
          a.back());
  const Shape batch_a(a.dims().first(size_t(std::max(0, ra - 2)))),
      batch_b(b.dims().first(size_t(std::max(0, rb - 2))));
  Shape out = BroadcastShapes(c, batch_a, batch_b);
  if (ra > 1) out.push_back(a[ra - 2]);
  if (rb > 1) out.push_back(b[rb - 1]);
  return out;
}

}  // namespace mete
