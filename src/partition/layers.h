// Groups a graph's nodes into layers, the units in which a graph is measured and divided over devices. A
// layer is an expensive node, such as a convolution, with the cheap nodes that follow it.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct Layer {
  std::string name;        // the anchor's name
  int begin = 0, end = 0;  // nodes [begin, end) of the graph
  // The node whose rows divide the layer: the node with the most arithmetic or, if equal, the most bytes.
  int anchor = 0;
  bool joins = false;  // whether it begins with a join
};

// Returns the layers of all nodes, in order. A layer begins at the first node, at each convolution, matrix
// product, pool, recurrent and Attention node, and at each join. A join is a Concat of values that nodes of
// several layers make. An Add of such values belongs to the layer before it, because passes fuse it with the
// convolution there.
std::vector<Layer> LayersOf(const Graph& graph);

// Returns the nodes of the layers [first, last), in order.
std::vector<int> NodesOf(const std::vector<Layer>& layers, int first, int last);

// Returns, for each layer, the values that are live before it: values that an earlier layer produces or the
// caller provides, and that this layer, a later one or the caller reads. They must be on some device when a
// group of layers begins there. The list has one entry more, for the end of the graph: the graph's outputs.
// Each entry is sorted by id and contains no constants.
std::vector<std::vector<ValueId>> LiveValues(const Graph& graph, const std::vector<Layer>& layers);

}  // namespace mete
