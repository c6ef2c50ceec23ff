// What a mete.MatMul (graph/fused.h, 8) multiplies: matrices that lie anywhere within A, B and Y. Shared by
// the shape inference, the passes and the kernels, so that they cannot differ.
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
    int64_t a = 0, b = 0, y = 0;  // the elements where its matrices begin
  };
  // y[m x n] = scale * a[m x k] b[k x n] for each i below `batch`.
  Product At(int64_t i) const;

  struct Axis {  // a dimension of the batch, and what a step along it is in each tensor
    int64_t extent = 1;
    Product step;
  };
  std::vector<Axis> axes;
  int64_t batch = 1;
  int64_t m = 1, n = 1, k = 1;
  // elements to the next one
  int64_t a_row = 0, a_column = 0, b_row = 0, b_column = 0, y_row = 0, y_column = 0;
  float scale = 1;
  Shape y;  // as it is stored
};

// `a`, `b`: as they are stored. Returns what is wrong in words, or an empty string.
std::string ParseMatMulView(const Attributes& attributes, const Shape& a, const Shape& b, MatMulView& view);

}  // namespace mete
