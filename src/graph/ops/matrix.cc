#include "graph/operators.h"

namespace mete {

std::span<const OpSchema> MatrixOperators() { return {}; }

}  // namespace mete
