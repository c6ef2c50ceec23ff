// What costs of every source have in common: what a node is, whatever it takes.
#pragma once

#include <vector>

#include "costs/costs.h"
#include "graph/graph.h"
#include "machine/machine.h"

namespace mete {

// Of each cluster the cores that have units of their own: threads of one core count once.
std::vector<int> PhysicalCores(const Machine& machine);

// All of a node's cost but its times, which are of a machine.
NodeCost DescribeNode(const Graph& graph, const Node& node);

}  // namespace mete
