#include "graph/operators.h"

namespace mete {

std::span<const OpSchema> ImageOperators() { return {}; }

}  // namespace mete
