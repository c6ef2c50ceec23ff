// The largest or the smallest k elements of lines of f32, in their order.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fast/epilogue.h"

namespace mete {

// Line l of outer x inner ones has `length` elements, `inner` apart. 0 < k <= length.
struct TopShape {
  static constexpr int64_t kMostLength = (int64_t{1} << 32) - 1;  // an index is a part of a key of 64 bits

  int64_t outer = 1, length = 1, inner = 1;
  int64_t k = 1;
  bool largest = true;

  int64_t lines() const { return outer * inner; }
};

// What a thread needs for a line.
struct TopScratch {
  explicit TopScratch(const TopShape& shape);

  std::vector<float> line;             // if its elements are not contiguous
  std::vector<float> maxima;           // of groups of elements
  std::vector<uint32_t> found;         // the elements that may be among the first
  std::vector<uint64_t> keys, ranked;  // theirs, and in order if they are few
};

// Computes the given lines. Equal elements are in the order of their indices, and a NaN is above all numbers,
// as in the reference. `values` or `indices` may be null.
void RunTop(const TopShape& shape, const float* input, Range lines, TopScratch& scratch, float* values,
            int64_t* indices);

}  // namespace mete
