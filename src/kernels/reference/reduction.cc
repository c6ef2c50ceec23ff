#include "kernels/reference/reduction.h"

#include <vector>

namespace mete {

std::span<const RefEntry> ReductionReferences() {
  static const std::vector<RefEntry> all = [] {
    std::vector<RefEntry> table;
    for (auto part : {ReduceReferences(), AlongAxisReferences()})
      table.insert(table.end(), part.begin(), part.end());
    return table;
  }();
  return all;
}

}  // namespace mete
