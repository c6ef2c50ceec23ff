#include "kernels/reference/reference.h"

namespace mete {

std::span<const RefEntry> MatrixReferences() { return {}; }

}  // namespace mete
