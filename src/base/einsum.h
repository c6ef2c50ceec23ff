// The equation of an Einsum, read once for shape inference and kernel alike.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mete/tensor.h"

namespace mete {

// Every letter, and every dimension that an ellipsis stands for, is an index with an extent. The output's
// come first, in its order; those after them are summed over.
struct Einsum {
  // Throws INVALID_ARGUMENT "[where] ..." where the equation is malformed or does not fit the shapes.
  Einsum(const std::string& where, std::string_view equation, std::span<const Shape> operands);

  std::vector<int64_t> extents;  // per index
  int output_indices = 0;
  // Per operand: how far a step along each index moves in it; 0 where it lacks the index or repeats.
  std::vector<std::vector<int64_t>> steps;

  Shape OutputShape() const { return Shape(std::span(extents).first(size_t(output_indices))); }
};

}  // namespace mete
