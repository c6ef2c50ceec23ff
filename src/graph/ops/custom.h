// The shapes of operators that the program has registered.
#pragma once

#include "graph/operators.h"

namespace mete {

// Asks the shape function of the node's operator. Error as the function's, with the node's name;
// UNIMPLEMENTED if the operator is not registered; INVALID_ARGUMENT for too few inputs, or if the function
// gives too few outputs, no type, or no shape although all inputs are known.
void InferCustom(InferContext& context);

}  // namespace mete
