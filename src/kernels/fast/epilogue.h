// What happens to a block of outputs while it is still in registers or in the first-level cache, and how
// blocks are named. Shared by the matrix product and the convolutions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fused.h"

namespace mete {

// [begin, end)
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// output = activation(sum + bias[channel] + residual), in f32. Owns nothing.
struct Epilogue {
  const float* bias = nullptr;  // one per output channel, or null
  // shaped like the output, or null; not the output itself, whose sums lie there before
  const float* residual = nullptr;
  int64_t residual_stride = 0;  // elements between its rows (pixels); 0: as in the output
  Activation activation;
};

}  // namespace mete
