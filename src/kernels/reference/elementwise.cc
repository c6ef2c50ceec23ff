#include "kernels/reference/elementwise.h"

#include <vector>

namespace mete {

std::span<const RefEntry> ElementwiseReferences() {
  static const std::vector<RefEntry> all = [] {
    std::vector<RefEntry> table;
    for (auto part : {UnaryReferences(), BinaryReferences(), CastReferences()})
      table.insert(table.end(), part.begin(), part.end());
    return table;
  }();
  return all;
}

}  // namespace mete
