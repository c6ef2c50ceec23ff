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

inline bool IsDepthwise(const ConvShape& s) {
  return s.groups > 1 && s.groups == s.in_channels && s.in_channels == s.out_channels;
}

// Pixels in a row that a work-item of a depthwise convolution computes: they share the weights' loads. This
// value is a guess; the sums of 4 vectors and their inputs fit into the registers of GPUs.
inline constexpr int64_t kDepthwiseColumns = 4;

// Appends the launches that pack the weights (once, if these and the bias never change) and compute `spec`,
// whose types are set here.
void LowerImplicitProduct(Lowering& to, ConvSpec spec, PackSource source, const ProductArrays& arrays);

}  // namespace mete::opencl
