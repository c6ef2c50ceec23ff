#include "import/node_names.h"

#include "base/error.h"

namespace mete {

std::string NodeNames::Unique(const std::string& wanted) {
  int& next = used_[wanted];
  if (next++ == 0) return wanted;
  for (;;) {
    std::string candidate = fmt::format("{}_{}", wanted, next++);
    if (used_.emplace(candidate, 1).second) return candidate;
  }
}

}  // namespace mete
