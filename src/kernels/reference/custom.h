// The kernels of operators that the program has registered.
#pragma once

#include "kernels/reference/reference.h"

namespace mete {

// Calls the kernel of the node's operator. Error as the kernel's; UNIMPLEMENTED if it is not registered.
void RunCustom(RefArgs& args);

}  // namespace mete
