// Byte pair encoding: neighbouring tokens become one, the best pair first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace mete {

struct MergedPair {
  int64_t token = 0;
  float score = 0;  // the pair with the highest score is the next
};

// Merges until no pair of neighbours can be; of pairs with equal scores the first. `pair` says what two
// tokens become. Takes n log n steps for n tokens.
std::vector<int64_t> Merge(const std::vector<int64_t>& tokens,
                           const std::function<std::optional<MergedPair>(int64_t, int64_t)>& pair);

}  // namespace mete
