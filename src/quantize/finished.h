// The end of each rewrite of a graph.
#pragma once

#include <utility>

#include "graph/operators.h"

namespace mete {

// Removes the nodes whose operator was cleared and all that no output needs, and infers the shapes of the
// others.
inline Graph Finished(Graph graph) {
  std::erase_if(graph.nodes, [](const Node& node) { return node.op.empty(); });
  SortTopologically(graph);
  RemoveUnused(graph);
  InferShapes(graph);
  Verify(graph);
  return graph;
}

}  // namespace mete
