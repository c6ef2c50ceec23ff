// numpy's matmul as an iteration over matrices: y[m x n] = a[m x k] b[k x n] for every pair of the broadcast
// batch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/reference/iterate.h"

namespace mete {

struct MatMulDims {
  int64_t m = 1, k = 1, n = 1;
  Shape batch;
  std::array<Steps, 2> steps{};  // elements from one matrix to the next, of a and of b

  // The shapes must be those that graph/ops/matmul_shape.h accepts.
  MatMulDims(const Shape& a, const Shape& b) {
    const int ra = a.rank(), rb = b.rank();
    k = a.back();
    if (ra > 1) m = a[ra - 2];
    if (rb > 1) n = b[rb - 1];
    const Shape batch_a(a.dims().first(size_t(std::max(0, ra - 2)))),
        batch_b(b.dims().first(size_t(std::max(0, rb - 2))));
    for (int i = 0, rank = std::max(batch_a.rank(), batch_b.rank()); i < rank; ++i) {
      const int ia = i - (rank - batch_a.rank()), ib = i - (rank - batch_b.rank());
      const int64_t da = ia < 0 ? 1 : batch_a[ia], db = ib < 0 ? 1 : batch_b[ib];
      batch.push_back(da == 1 ? db : da);
    }
    steps = {BroadcastSteps(batch_a, batch), BroadcastSteps(batch_b, batch)};
    for (int64_t& s : steps[0]) s *= m * k;
    for (int64_t& s : steps[1]) s *= k * n;
  }

  // Calls f(offset in a, offset in b) for every matrix of y, in y's order.
  template <class F>
  void ForEachMatrix(F&& f) const {
    ForEach(batch, steps, [&](const auto& at) { f(at[0], at[1]); });
  }
};

// Computes row[j] = sum over k of a[k] b[k][j], in double.
template <class T>
void MatMulRow(const MatMulDims& d, const T* a, const T* b, double* row) {
  std::fill_n(row, d.n, 0.0);
  for (int64_t k = 0; k < d.k; ++k, b += d.n) {
    const double value = a[k];
    for (int64_t j = 0; j < d.n; ++j) row[j] += value * double(b[j]);
  }
}

}  // namespace mete
