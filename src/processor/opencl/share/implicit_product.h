// A convolution or product with its weights packed before it.
#pragma once

#include <optional>

#include "processor/opencl/share/lowering.h"

namespace mete::opencl {

struct ProductArrays {
  Array input, weights, output;
  std::optional<Array> bias;      // f32
  std::optional<Array> residual;  // of the output's type
};

// Appends the launches that pack the weights (once, if these and the bias never change) and compute `spec`,
// whose types are set here.
void LowerImplicitProduct(Lowering& to, ConvSpec spec, PackSource source, const ProductArrays& arrays);

}  // namespace mete::opencl
