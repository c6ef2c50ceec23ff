// Graphs of convolutions in a row, for tests of plans.
#pragma once

#include "passes/graphs_testing.h"

namespace mete {

// Returns 3x3 convolutions in a row that keep the shape of their input [1, channels, height, width].
inline Graph ChainOfConvolutions(const Shape& shape, int convolutions) {
  Builder b;
  ValueId x = b.Input(shape);
  for (int i = 0; i < convolutions; ++i) x = b.Conv(x, shape[1], shape[1], 3, {1, 1, 1, 1});
  b.Output(x);
  InferShapes(b.graph);
  return b.graph;
}

}  // namespace mete
