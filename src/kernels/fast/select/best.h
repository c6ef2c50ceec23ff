// The place of the largest or smallest element of lines of f32 (ArgMax, ArgMin).
#pragma once

#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

// Line l of outer x inner ones has `length` > 0 elements, `inner` apart.
struct BestShape {
  static constexpr int64_t kMostLength = (int64_t{1} << 31) - 1;  // places are counted in 32 bits

  int64_t outer = 1, length = 1, inner = 1;
  bool largest = true;
  bool last = false;  // which one of equal elements

  int64_t lines() const { return outer * inner; }
};

// A unit is the least that is computed at a time: a contiguous line, or the lines of some columns.
int64_t BestUnits(const BestShape& shape);

// Computes the given units. A NaN replaces every number, as in the reference.
void RunBest(const BestShape& shape, const float* input, Range units, int64_t* output);

}  // namespace mete
