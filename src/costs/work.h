// The work of a kernel for a node, as the amounts of the units that its time consists of. A profile
// (profile.h) has the time of each unit.
//
// AsyMo and CoDL predict ceil(blocks / cores) * ceil(block / tile) * t_unit + t_task. Here a kernel has more
// than one t_unit (own extension): the time of a register tile depends on its width and on K, each row of
// tiles and each panel has a start-up cost, and data outside of the cache cost a time per byte, near or far.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dispatch/options.h"
#include "graph/graph.h"

namespace mete {

// The regime of a node whose operator has fast kernels of which none computes it (dispatch/dispatch.h).
inline constexpr const char* kReferenceRegime = "reference";
// The unit that counts the elements of the output.
inline constexpr const char* kOutputs = "output";

struct Work {
  // the name in processor/cpu without the target: "conv_1x1_f32"; for nodes that are not products the
  // operator: "Softmax"
  std::string kernel;
  std::string regime;  // a case in which the kernel's time has other units: "one row"; mostly empty
  std::map<std::string, double> amounts;  // units by kind; the time is the sum of ns per unit * amount
  // key of a work with the same units, whose times hold as a guess where this one was not measured; mostly
  // empty
  std::string stand_in = {};
  double beside_ns = 0;  // a guess of what such a work takes in addition

  std::string key() const { return regime.empty() ? kernel : kernel + ", " + regime; }
};

// The caches of one core.
struct CoreCaches {
  double near_bytes = 0;  // size of the second-level cache
  double last_bytes = 0;  // size of the cache between that and memory, which other cores may fill too
};

// What all nodes of a network that is run repeatedly have in common.
struct RepeatedRun {
  double bytes = 0;  // BytesOfRun(graph)
  DispatchOptions dispatch = {};
};

RepeatedRun RunOf(const Graph& graph);

// A node of such a network.
struct NodeInRun {
  const Graph& graph;
  // An element of graph.nodes, which are in the order in which they run: the nodes before it decide which
  // cache has its inputs.
  const Node& node;
  CoreCaches caches;
  RepeatedRun run = {};  // RunOf(graph)
};

// Returns the ways to compute a node, from which processor/cpu chooses the fastest by measuring; only some
// convolutions have more than one. The result is empty for nodes that compute nothing or whose shapes depend
// on the data.
std::vector<Work> WorksOf(const NodeInRun& at);

// Returns whether the node is a convolution or a matrix product, of any type.
bool IsProduct(const Node& node);

}  // namespace mete
