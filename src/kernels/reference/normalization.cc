#include "kernels/reference/normalization.h"

#include <vector>

namespace mete {

std::span<const RefEntry> NormalizationReferences() {
  static const std::vector<RefEntry> all = [] {
    std::vector<RefEntry> table;
    for (auto part : {ChannelNormReferences(), LineNormReferences()})
      table.insert(table.end(), part.begin(), part.end());
    return table;
  }();
  return all;
}

}  // namespace mete
