#include "graph/operators.h"

namespace mete {

std::span<const OpSchema> IndexOperators() { return {}; }

}  // namespace mete
