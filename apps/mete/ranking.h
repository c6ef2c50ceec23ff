// Ranks a classifier's scores for people: the best classes with their names.
#pragma once

#include <string>
#include <vector>

#include "mete/tensor.h"

namespace mete::cli {

struct Ranked {
  int64_t index = 0;
  std::string label;  // empty if the class has no name
  double score = 0;
};

// Returns the `k` highest of all elements; equal elements are in the order of their indices, NaN comes last.
std::vector<Ranked> Rank(const ConstView& scores, int k, bool softmax,
                         const std::vector<std::string>& labels);

// Reads a file with one class per line. If a line has columns (number, id, name), the label is the last one,
// after the last tab. Errors name `from`, the flag that the path comes from.
std::vector<std::string> ReadLabels(const std::string& path, const std::string& from);

}  // namespace mete::cli
