// Which values shares hand over with their channels last.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "partition/part.h"

namespace mete {

// By value: true for a 4-D f32 value that the kernels of its producer write with channels last (N, H, W, C),
// so that a share computes it in that order, and rows of its height follow each other in memory. A graph's
// inputs and outputs keep the order that the caller knows. Follows the pass `layout`; where the two differ, a
// share has a Transpose more.
std::vector<bool> ChannelsLast(const Graph& graph);

// The shape of such a value, and a part of it, with channels last.
Shape ToChannelsLast(const Shape& shape);
Part ToChannelsLast(const Part& part);

// Gives those inputs and outputs of a share's graph channels last that `last` names by their index: behind an
// input and before an output there is a Transpose, which the passes take away.
void PutChannelsLast(Graph& share, const std::vector<bool>& inputs, const std::vector<bool>& outputs);

}  // namespace mete
