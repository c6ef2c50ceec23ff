// Convolutions of volumes as convolutions of their slices (passes/depth_taps.h).
#pragma once

#include "graph/graph.h"

namespace mete {

// Returns whether AddSliceConvolution() takes a Conv, a ConvTranspose or a convolution of bytes over volumes.
bool IsSliceConvolution(const Graph& graph, const Node& node);

// Adds the nodes that compute such a convolution of `slices`, those of the node's first input, and returns
// the slices of its output.
ValueId AddSliceConvolution(Graph& graph, const Node& node, ValueId slices);

}  // namespace mete
