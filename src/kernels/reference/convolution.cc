#include "kernels/reference/reference.h"

namespace mete {

std::span<const RefEntry> ConvolutionReferences() { return {}; }

}  // namespace mete
