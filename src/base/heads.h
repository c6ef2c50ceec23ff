// A tensor of attention heads seen as batch x heads x length x size: 4-D as such, or 3-D with the heads side
// by side in the last dimension. Strides in elements; the last dimension is dense.
#pragma once

#include <cstdint>

#include "mete/tensor.h"

namespace mete {

struct Heads {
  int64_t batch, heads, length, size;
  int64_t batch_stride, head_stride, length_stride;

  // `heads` counts only for a 3-D shape, whose last dimension it divides.
  Heads(const Shape& s, int64_t head_count) {
    batch = s[0];
    batch_stride = s.Elements(1, s.rank());
    if (s.rank() == 4) {
      heads = s[1], length = s[2], size = s[3];
      head_stride = length * size, length_stride = size;
    } else {
      heads = head_count, length = s[1], size = s[2] / head_count;
      head_stride = size, length_stride = s[2];
    }
  }

  int64_t At(int64_t b, int64_t h, int64_t i) const {
    return b * batch_stride + h * head_stride + i * length_stride;
  }
};

}  // namespace mete
