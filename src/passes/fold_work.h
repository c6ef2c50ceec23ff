// Estimates the work of folding a node before the folding starts, because a small file can request 10^12
// steps.
#pragma once

#include "graph/graph.h"

namespace mete {

// Returns an upper estimate of the steps of the innermost loop. It does not overflow, whatever the shapes.
// Inputs and outputs of unknown shape are not counted.
double FoldWork(const Graph& graph, const Node& node);

}  // namespace mete
