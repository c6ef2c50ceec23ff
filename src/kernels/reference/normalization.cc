#include "kernels/reference/reference.h"

namespace mete {

std::span<const RefEntry> NormalizationReferences() { return {}; }

}  // namespace mete
