// A device's share of a group of nodes: a separate Graph, which any session can run. The share computes the
// requested rows of the group's outputs, with the halo that they need, the padding left at their edges, and
// slices of the weights. Nodes that cannot be divided as requested, or whose readers need rows along
// different axes, are computed whole: a share's results are always right, but devices may repeat work.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"
#include "partition/part.h"

namespace mete {

struct ValuePart {
  ValueId value = kNoValue;  // a value of the whole graph
  Part part;
};

// The values that a group of nodes exchanges with the rest of its graph, in the order of their ids.
struct GroupBorder {
  std::vector<ValueId> inputs;   // read in the group, produced outside; no constants
  std::vector<ValueId> outputs;  // produced in the group, read outside or by the caller
};

// Returns the border of a group. `nodes`: indices into graph.nodes, in order.
GroupBorder BorderOf(const Graph& graph, const Uses& uses, std::span<const int> nodes);

// The parts that a share computes of each node. No tensor is cut for them; costs need no more than these.
struct ShareParts {
  std::vector<ValuePart> inputs;   // parts from outside the group, in the order of the values' ids
  std::vector<ValuePart> outputs;  // the requested parts, in the order of the request
  std::vector<int> nodes;          // the nodes of the group that are needed, in order
  std::vector<Part> computed;      // for each of `nodes`: the part of its outputs that it computes
};

// Returns the parts of a share that computes `wanted`, parts of values that the group produces. Nodes outside
// the group are not examined. Throws an Error if a wanted value is not produced in the group, if a part does
// not exist, or if a part other than All() is wanted of a value of unknown shape.
ShareParts PartsOf(const Graph& graph, std::span<const int> nodes, std::span<const ValuePart> wanted);

struct ShareGraph {
  ShareParts parts;
  // The inputs and outputs of the graph are those of `parts`, in order. Weights that are not cut share their
  // bytes with the whole graph.
  Graph graph;
};

// Returns the share's graph. Throws the same Errors as PartsOf.
ShareGraph MakeShareGraph(const Graph& graph, std::span<const int> nodes, std::span<const ValuePart> wanted);

}  // namespace mete
