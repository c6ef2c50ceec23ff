#include "kernels/reference/reference.h"

namespace mete {

std::span<const RefEntry> SequenceReferences() { return {}; }

}  // namespace mete
