// Selects the matrix products that the fast kernels compute and describes each in the kernels' terms. The
// result depends only on shapes, attributes and which values are constant, never on the machine.
// processor/cpu prepares kernels from it, and costs/ counts their work from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/matmul_view.h"
#include "base/precision.h"
#include "graph/graph.h"
#include "kernels/fast/conv/conv.h"

namespace mete {

// `batch` products of m x k by k x n. If b_step is 0, all products share B.
struct Product {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int64_t b_stride = 0, b_step = 0;    // elements between stored rows of B, and between the Bs of a batch
  std::optional<MatMulView> view;      // offsets of the matrices; absent if they lie one after the other
  int64_t a_stride = 0, c_stride = 0;  // elements between rows of A and C; 0: k and n
  bool transposed = false;             // B is stored as n x k
  float alpha = 1;
  ValueId bias = kNoValue;  // n elements, constant
  int residual = -1;        // index of an input of the output's shape that is added; -1: none
  bool constant = false;    // B is constant
  // Bits of B's integers as the file has them (base/few_bit_matrix.h), which a kernel reads for each row of
  // A; 0: B is floats.
  int few_bits = 0;
  Precision operands = Precision::kF32;  // that they may be rounded to (graph/fused.h, 10)

  // Returns true if A has one row. A matrix-vector kernel then reads the weights once, in the model's layout.
  bool is_vector() const { return m == 1 && batch == 1 && alpha == 1 && k > 0 && !view; }
  std::vector<std::string> kernels() const;
  std::string kernel() const {  // with operands of f32
    if (few_bits != 0) return few_bits == 8 ? "matvec_q8_f32" : "matvec_q4_f32";
    return !is_vector() ? "gemm_f32" : transposed ? "matvec_rows_f32" : "matvec_columns_f32";
  }
};

// Returns whether B is packed once in halves, and not in each run.
inline bool PacksOnce(const Product& p) { return p.constant && p.batch == 1 && !p.view; }

// Returns the convolution of 1x1 over the rows of A that computes each of the products.
ConvShape AsConvolution(const Product& product);

// Returns whether B is constant, and so large that a second-level cache does not keep it.
bool IsLarge(const Product& product);

// Returns the precision in which this processor computes a product: that of its operands if it is sooner than
// f32.
Precision PrecisionOf(const Product& product);

// Returns the product of a Gemm, MatMul or mete.MatMul. Returns nothing if only the reference kernel can
// compute it; `why` then receives the reason.
std::optional<Product> ProductOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
