// A classifier's answer for people: the best classes with their names.
#pragma once

#include <string>
#include <vector>

#include "mete/tensor.h"

namespace mete::cli {

struct Ranked {
  int64_t index = 0;
  std::string label;  // empty where there is none
  double score = 0;
};

// The `k` highest of all elements, equal ones in order of index, NaN last.
std::vector<Ranked> Rank(const ConstView& scores, int k, bool softmax,
                         const std::vector<std::string>& labels);

// A line a class; of a line in columns (number, id, name) the last one, after the tab.
std::vector<std::string> ReadLabels(const std::string& path, const std::string& from);

}  // namespace mete::cli
