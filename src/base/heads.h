// A view of a tensor of attention heads as batch x heads x length x size. A 4-D tensor has these four
// dimensions; a 3-D tensor has the heads side by side in its last dimension. Strides count elements; the
// dimension `size` is dense.
#pragma once

#include <cstdint>

#include "mete/tensor.h"

namespace mete {

struct Heads {
  int64_t batch, heads, length, size;
  int64_t batch_stride, head_stride, length_stride;

  // `head_count` is used only for a 3-D shape; it must divide the last dimension.
  Heads(const Shape& s, int64_t head_count) {
    batch = s[0];
    batch_stride = s.Elements(1, s.rank());
    if (s.rank() == 4) {
      heads = s[1];
      length = s[2];
      size = s[3];
      head_stride = length * size;
      length_stride = size;
    } else {
      heads = head_count;
      length = s[1];
      size = s[2] / head_count;
      head_stride = size;
      length_stride = s[2];
    }
  }

  // Returns the offset of the first element of row i.
  int64_t At(int64_t b, int64_t h, int64_t i) const {
    return b * batch_stride + h * head_stride + i * length_stride;
  }
};

}  // namespace mete
