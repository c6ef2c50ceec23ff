// Local response normalisation across channels in f32 over NHWC: y[c] = x[c] * (bias + alpha / size * sum of
// x[j]^2 for j in [c - (size-1)/2, c + size/2])^-beta. Blocks are ranges of pixels; pointers point at pixel
// 0.
#pragma once

#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

struct LrnShape {
  // The limits exist because the squares of one pixel are on the caller's stack during a call.
  static constexpr int64_t kMaxChannels = 2048, kMaxSize = 64;
  int64_t channels = 1, size = 5;  // at most kMaxChannels and kMaxSize
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
};

// Normalizes the given pixels. The output may be the input. A sum that is not positive gives the result of
// pow: NaN or infinity.
void RunLrn(const LrnShape& shape, const float* input, Range pixels, float* output);

}  // namespace mete
