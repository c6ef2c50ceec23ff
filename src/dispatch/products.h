// Which matrix products the fast kernels compute, and each of them in their terms. Pure: it looks at shapes,
// attributes and at what is constant, never at the machine. processor/cpu prepares what this says, and costs/
// counts it.
#pragma once

#include <optional>
#include <string>

#include "base/matmul_view.h"
#include "graph/graph.h"

namespace mete {

// `batch` products of m x k by k x n; B is shared by all where b_step is 0.
struct Product {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int64_t b_stride = 0, b_step = 0;  // elements between rows of B as stored, and between Bs
  // where the matrices of each product begin, if not one after the other
  std::optional<MatMulView> view;
  int64_t a_stride = 0, c_stride = 0;  // elements between rows of A and C; 0: k and n
  bool transposed = false;             // B is stored as n x k
  float alpha = 1;
  ValueId bias = kNoValue;  // n elements, constant
  int residual = -1;        // input that is added, of the output's shape

  // One row of A, whose weights are read once, as they lie in the model: by a matrix-vector kernel.
  bool is_vector() const { return m == 1 && batch == 1 && alpha == 1 && k > 0 && !view; }
};

// Of a Gemm, MatMul or mete.MatMul. Nothing for those that only the reference computes; `why` then says why.
std::optional<Product> ProductOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
