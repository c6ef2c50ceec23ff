#include "kernels/reference/reference.h"

namespace mete {

std::span<const RefEntry> ElementwiseReferences() { return {}; }

}  // namespace mete
