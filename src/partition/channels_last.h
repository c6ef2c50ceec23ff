// Which values shares hand over with their channels last.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "partition/part.h"

namespace mete {

// Returns, for each value of the graph, true for a 4-D f32 value that the kernels of its producer write with
// channels last (N, H, W, C), so that a share computes it in that order, and rows of its height follow each
// other in memory. A graph's inputs and outputs keep the order that the caller knows. The function predicts
// the result of the pass `layout`; if the prediction is wrong, a share has one Transpose more.
std::vector<bool> ChannelsLast(const Graph& graph);

// Return the shape of such a value, and a part of it, with channels last.
Shape ToChannelsLast(const Shape& shape);
Part ToChannelsLast(const Part& part);

// Changes the order of some inputs and outputs of a share's graph to channels last: those for which `inputs`
// and `outputs` are true at their index. The function adds a Transpose behind such an input and before such
// an output, which the passes remove.
void PutChannelsLast(Graph& share, const std::vector<bool>& inputs, const std::vector<bool>& outputs);

}  // namespace mete
