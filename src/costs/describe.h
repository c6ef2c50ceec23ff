// The part of the costs that does not depend on their source: the description of a node without its times.
#pragma once

#include <vector>

#include "costs/costs.h"
#include "graph/graph.h"
#include "machine/machine.h"

namespace mete {

// Returns the number of physical cores of each cluster: threads of one core count once.
std::vector<int> PhysicalCores(const Machine& machine);

// Returns a node's cost without its times, which depend on the machine.
NodeCost DescribeNode(const Graph& graph, const Node& node);

}  // namespace mete
