// The matrix-vector product y = activation(W x + b + residual) in f32. It reads the weights once, without
// packing, at the speed of memory. Blocks are ranges of outputs. The epilogue's residual is shaped like y.
#pragma once

#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

// Computes the product for W stored as [outputs][k] with rows `stride` elements apart: each output is a dot
// product.
void MatVecByRows(const float* w, int64_t stride, int64_t k, const float* x, const Epilogue& epilogue,
                  Range outputs, float* y);

// Where the weights are when the product begins. The sums are the same.
enum class WeightsPlace { kCache, kMemory };

// Computes the product for W stored as [k][outputs] with rows `stride` elements apart: y is a sum of scaled
// rows. Weights from memory are prefetched, which would only cost time for weights in a cache.
void MatVecByColumns(const float* w, int64_t stride, int64_t k, const float* x, const Epilogue& epilogue,
                     Range outputs, float* y, WeightsPlace place);

}  // namespace mete
