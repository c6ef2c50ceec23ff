// The equation of an Einsum node. Shape inference and kernels share this parser.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mete/tensor.h"

namespace mete {

// Every letter, and every dimension that an ellipsis stands for, is an index with an extent. The output's
// indices come first, in the output's order; the kernel sums over the indices after them. For "ij,jk->ik" the
// order is i, k, j.
struct Einsum {
  // Throws INVALID_ARGUMENT "[where] ..." if the equation is malformed or does not fit the shapes.
  Einsum(const std::string& where, std::string_view equation, std::span<const Shape> operands);

  std::vector<int64_t> extents;  // one per index
  int output_indices = 0;
  // steps[k][i]: elements by which one step along index i moves in operand k; 0 if the operand lacks the
  // index or is broadcast along it.
  std::vector<std::vector<int64_t>> steps;
  // indices[k][d]: the index that dimension d of operand k runs along. Dimensions of 1 may be broadcast.
  std::vector<std::vector<int>> indices;

  Shape OutputShape() const { return Shape(std::span(extents).first(size_t(output_indices))); }
};

}  // namespace mete
