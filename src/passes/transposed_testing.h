// Transposed convolutions for tests of the passes that write them as convolutions.
#pragma once

#include "passes/graphs_testing.h"

namespace mete {

struct TransposedCase {
  Shape in, weights;  // N x C x H x W, and C x M x kernel
  int64_t stride;
  Ints pads, output_padding;
};

inline Attributes AttributesOf(const TransposedCase& c) {
  Attributes a;
  a.Set("strides", Ints{c.stride, c.stride});
  a.Set("pads", c.pads);
  if (!c.output_padding.empty()) a.Set("output_padding", c.output_padding);
  return a;
}

}  // namespace mete
