// Arithmetic with a chosen data-reuse rate: the function reads every number of a buffer once and computes
// with it. It only serves to be measured and to keep a core busy. Serial equivalent:
//
//     sum = 0
//     for each x of data: y = x; `multiply_adds` times: y = y * 0.75 + 0.25; sum += y
#pragma once

#include <cstddef>

namespace mete {

inline constexpr size_t kReuseStep = 128;  // `count` must be a multiple of it: eight vectors of 512 bits

// Returns the number of floating-point operations per byte; a multiply-add counts as 2.
constexpr double ReuseRate(int multiply_adds) { return (2.0 * multiply_adds + 1) / sizeof(float); }

// Returns the sum. Runs on the best instruction set, or on the one that ForceTarget() has set.
float ReadAndCompute(const float* data, size_t count, int multiply_adds);

}  // namespace mete
