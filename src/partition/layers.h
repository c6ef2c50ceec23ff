// A graph's nodes as layers, the grain at which it is measured and divided over devices: a node that
// computes, with the cheap ones that come after it.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct Layer {
  std::string name;        // its anchor's
  int begin = 0, end = 0;  // nodes [begin, end) of the graph
  // the node whose rows are the layer's: the one with the most arithmetic, else with the most bytes
  int anchor = 0;
  bool joins = false;  // whether it begins with a join
};

// All nodes, each in one layer, in their order. A layer begins at each convolution, matrix product, pool and
// recurrent node, at each join, and at the first node. A join is a Concat of values that nodes of several
// layers make. An Add of such values belongs to the layer before it, because passes fuse it with the
// convolution there.
std::vector<Layer> LayersOf(const Graph& graph);

// The values that are made before layer `at` or given by the caller, and read by it or later or given to the
// caller: what must be somewhere when a group begins there. In the order of their ids, no constants. `at` may
// be the number of layers: the graph's outputs. by layer, and one more
std::vector<std::vector<ValueId>> LiveValues(const Graph& graph, const std::vector<Layer>& layers);

}  // namespace mete
