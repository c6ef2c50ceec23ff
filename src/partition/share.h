// A device's share of a group of fused nodes: a Graph of its own, which any session can run. It has the
// group's nodes with the rows that are asked for and the halo that these need, the padding that is left at
// their edges, and the weights' rows. Nodes that cannot be divided as asked, or whose readers need rows along
// different axes, are computed whole: a share is always right, but it may repeat work.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"
#include "partition/part.h"

namespace mete {

struct ValuePart {
  ValueId value = kNoValue;  // of the whole graph
  Part part;
};

// What a group of nodes has to do with the rest of its graph, in the order of the values' ids.
struct GroupBorder {
  std::vector<ValueId> inputs;   // read in it, made outside; no constants
  std::vector<ValueId> outputs;  // made in it, read outside or given to the caller
};

// `nodes`: indices into graph.nodes, in order.
GroupBorder BorderOf(const Graph& graph, const Uses& uses, std::span<const int> nodes);

// What is to be computed of each node for a share, before any tensor is cut: enough for costs.
struct ShareParts {
  std::vector<ValuePart> inputs;   // what comes from outside, in the order of the values' ids
  std::vector<ValuePart> outputs;  // what was asked for, in that order
  std::vector<int> nodes;          // those of the group that are needed, in order
  std::vector<Part> computed;      // for each of `nodes`: the part of its outputs that it computes
};

// `wanted`: values that are made in the group, a part of each. Nodes outside the group are not looked at.
// Throws where a wanted value is not made in the group, or a part is asked for of one whose shape is not
// known.
ShareParts PartsOf(const Graph& graph, std::span<const int> nodes, std::span<const ValuePart> wanted);

struct ShareGraph {
  ShareParts parts;
  // its inputs and outputs are those of `parts`, in their order; weights share the bytes of the whole graph's
  // where not cut
  Graph graph;
};

// Throws as PartsOf does.
ShareGraph MakeShareGraph(const Graph& graph, std::span<const int> nodes, std::span<const ValuePart> wanted);

}  // namespace mete
