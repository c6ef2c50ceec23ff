#include "graph/operators.h"

namespace mete {

std::span<const OpSchema> SequenceOperators() { return {}; }

}  // namespace mete
