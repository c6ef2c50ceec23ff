// Convolutions by Winograd's minimal filtering (processor/opencl/kernels/winograd.h).
#pragma once

#include "processor/opencl/share/implicit_product.h"

namespace mete::opencl {

// Returns the outputs along a side of the tiles of such a convolution, 4 or 2; 0: the direct sum is sooner,
// or must be taken.
int WinogradSide(const Lowering& to, const ConvSpec& spec);

// Appends the launches that compute `spec` in tiles of side x side outputs.
void LowerWinograd(Lowering& to, ConvSpec spec, int side, const ProductArrays& arrays);

}  // namespace mete::opencl
