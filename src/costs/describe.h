// The part of the costs that does not depend on their source: the description of a node without its times.
#pragma once

#include <vector>

#include "costs/costs.h"
#include "graph/graph.h"
#include "machine/machine.h"

namespace mete {

// Returns the number of physical cores of each cluster: threads of one core count once.
std::vector<int> PhysicalCores(const Machine& machine);

// A node's first output as a matrix: pixels, or rows of a product, by channels or columns. No output of a
// known size: 0 and 1.
struct OutputMatrix {
  int64_t rows = 0, columns = 1;
};
OutputMatrix OutputMatrixOf(const Graph& graph, const Node& node);

// Returns a node's cost without its times, which depend on the machine.
NodeCost DescribeNode(const Graph& graph, const Node& node);

}  // namespace mete
