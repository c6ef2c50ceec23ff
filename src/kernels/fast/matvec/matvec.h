// y = activation(W x + b + residual) in f32 for one x: reads the weights once, as they are, at the speed of
// memory. Blocks are ranges of outputs. The epilogue's residual is shaped like y.
#pragma once

#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

// W as [outputs][k], rows `stride` elements apart: a dot product each.
void MatVecByRows(const float* w, int64_t stride, int64_t k, const float* x, const Epilogue& epilogue,
                  Range outputs, float* y);

// W as [k][outputs], rows `stride` elements apart: scaled rows are added up.
void MatVecByColumns(const float* w, int64_t stride, int64_t k, const float* x, const Epilogue& epilogue,
                     Range outputs, float* y);

}  // namespace mete
