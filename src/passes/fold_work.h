// How long folding one node can take, guessed before it is done: a small file can ask for 10^12 steps.
#pragma once

#include "graph/graph.h"

namespace mete {

// An upper estimate of the steps of the innermost loop, whatever the shapes: never overflows. All inputs
// and outputs of the node count that have a known shape.
double FoldWork(const Graph& graph, const Node& node);

}  // namespace mete
