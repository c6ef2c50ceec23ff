// Counts a node's arithmetic operations and bytes. Reports compute the share of peak performance from them,
// and planners use them.
#pragma once

#include "graph/graph.h"

namespace mete {

// Returns the floating-point operations of a convolution or a matrix product, or of the products of a
// recurrent operator over all its time steps. A multiply-add counts as 2. Returns 0 for other operators, and
// if a shape is unknown.
int64_t Flops(const Graph& graph, const Node& node);

// Returns the bytes of a node's inputs and outputs, or 0 if a shape is unknown.
int64_t BytesMoved(const Graph& graph, const Node& node);

}  // namespace mete
