// Arithmetic of a chosen data-reuse rate: every number of a buffer is read once, and something is computed
// with it. It has no use but to be measured, and to keep a core busy. Serial equivalent:
//
//     sum = 0
//     for each x of data: y = x; `multiply_adds` times: y = y * 0.75 + 0.25; sum += y
#pragma once

#include <cstddef>

namespace mete {

inline constexpr size_t kReuseStep = 128;  // what `count` must be a multiple of: eight vectors of 512 bits

// Floating-point operations for each byte; a multiply-add counts as 2.
constexpr double ReuseRate(int multiply_adds) { return (2.0 * multiply_adds + 1) / sizeof(float); }

// The sum. On the best instruction set, or the one that was forced.
float ReadAndCompute(const float* data, size_t count, int multiply_adds);

}  // namespace mete
