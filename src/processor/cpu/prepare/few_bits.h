// Products with weights in 8 or 4 bits (kernels/fast/matvec/few_bits.h).
#pragma once

#include <memory>

#include "dispatch/products.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {

// Prepares a product of one row whose weights are rounded to 8 or 4 bits (PrecisionOf), or one whose weights
// are the integers of a file (Product::few_bits).
std::unique_ptr<PreparedNode> PrepareFewBits(const Product& product, const Preparation& of);

}  // namespace mete
