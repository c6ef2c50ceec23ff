// The matrices that a mete.MatMul (graph/fused.h, 8) multiplies, as strides within A, B and Y. Shape
// inference, passes and kernels share this code, so that they cannot differ.
#pragma once

#include <string>
#include <vector>

#include "base/attributes.h"
#include "mete/tensor.h"

namespace mete {

inline constexpr const char* kPermA = "perm_a";
inline constexpr const char* kPermB = "perm_b";
inline constexpr const char* kPermY = "perm_y";
inline constexpr const char* kScale = "scale";

struct MatMulView {
  struct Product {
    int64_t a = 0, b = 0, y = 0;  // offsets of the first elements of the three matrices
  };
  // Returns the offsets of product i, 0 <= i < batch: y[m x n] = scale * a[m x k] b[k x n].
  Product At(int64_t i) const;

  struct Axis {  // a batch dimension, and the stride along it in each tensor
    int64_t extent = 1;
    Product step;
  };
  std::vector<Axis> axes;
  int64_t batch = 1;
  int64_t m = 1, n = 1, k = 1;
  // strides in elements: from one row, or column, of a matrix to the next
  int64_t a_row = 0, a_column = 0, b_row = 0, b_column = 0, y_row = 0, y_column = 0;
  float scale = 1;
  Shape y;  // the shape of Y as it is stored
};

// Computes the view for the stored shapes `a` and `b` of A and B. Returns a description of the problem, or an
// empty string.
std::string ParseMatMulView(const Attributes& attributes, const Shape& a, const Shape& b, MatMulView& view);

}  // namespace mete
