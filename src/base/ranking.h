// Ranks a classifier's scores: the best classes with their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mete/tensor.h"

namespace mete {

struct Ranked {
  int64_t index = 0;
  std::string label;  // empty if the class has no name
  double score = 0;
};

// Returns the `k` highest of all elements; equal elements are in the order of their indices, NaN comes last.
std::vector<Ranked> Rank(const ConstView& scores, int k, bool softmax,
                         const std::vector<std::string>& labels);

// Returns whether a row of an output of this shape can be scores of classes: CxN or CxNx1x1 for C pictures,
// with at least two classes.
bool CanBeClasses(const Shape& shape);

// Returns the names of classes in a text with a line for each. If a line has columns (number, id, name), the
// label is the last one, after the last tab.
std::vector<std::string> LabelsIn(const std::string& text);

// Returns row `i` of a tensor whose first dimension is `rows`. The result shares the tensor's memory.
Tensor RowOf(const Tensor& tensor, int64_t i, int64_t rows);

}  // namespace mete
