// The epilogue of the matrix product and the convolutions, which they apply to a block of outputs while it is
// still in registers or in the first-level cache, and the ranges that describe blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fused.h"

namespace mete {

// The range [begin, end).
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// output = activation(sum + bias[channel] + residual), in f32. The epilogue does not own the memory of its
// pointers.
struct Epilogue {
  const float* bias = nullptr;  // one value per output channel, or null
  // A tensor shaped like the output, or null. It must not be the output itself, which holds partial sums.
  const float* residual = nullptr;
  int64_t residual_stride = 0;  // elements from a row (pixel) of the residual to the next; 0: the output's
  Activation activation;
};

}  // namespace mete
