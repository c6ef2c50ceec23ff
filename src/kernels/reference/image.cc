#include "kernels/reference/reference.h"

namespace mete {

std::span<const RefEntry> ImageReferences() { return {}; }

}  // namespace mete
