// What a kernel has to do for a node, in the amounts that its time is made of: a profile (profile.h) says
// what each of them takes.
//
// AsyMo and CoDL predict ceil(blocks / cores) * ceil(block / tile) * t_unit + t_task. Here t_unit is not one
// number a kernel: a register tile's time goes with its width and with K, each row of tiles and each panel
// costs something to begin, and what is not in a cache comes at so much a byte, near or far (ours).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct Work {
  // as processor/cpu names it, but for the target: "conv_1x1_f32"; "Softmax" and so on for what is no product
  std::string kernel;
  std::string regime;  // where a kernel's time is made of other things: "one row"; mostly empty
  std::map<std::string, double> amounts;  // "ns of such a thing" times these is the time

  std::string key() const { return regime.empty() ? kernel : kernel + ", " + regime; }
};

// What one core has close by.
struct CoreCaches {
  double near_bytes = 0;  // of the second-level cache
  double last_bytes = 0;  // what lies between that and memory, which others may fill as well
};

// A node of a network that is run again and again.
struct NodeInRun {
  const Graph& graph;
  // one of graph.nodes, in the order in which they run, since what ran before says how far its inputs are
  const Node& node;
  CoreCaches caches;
  double run_bytes = 0;  // BytesOfRun(graph)
};

// The ways to compute a node, of which processor/cpu measures the fastest; of all but some convolutions there
// is one. Empty for nodes that compute nothing or whose shapes only the data tell.
std::vector<Work> WorksOf(const NodeInRun& at);

// Whether the node is a convolution or a matrix product.
bool IsProduct(const Node& node);

}  // namespace mete
