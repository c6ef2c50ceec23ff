// Computes which parts of its inputs a node needs to compute a part of its outputs. The halo of a
// convolution, the columns of a matrix product and the slices of weights all follow from this one function;
// for windows it computes DeepThings' recurrences for fused tiles (systems.md, 3).
//
// Graphs must be in the state before the pass `layout`: plain order, no epilogues.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "partition/part.h"

namespace mete {

struct Division {
  std::vector<Part> inputs;  // one for each input of the node, constants included; not normalized
  Attributes attributes;     // of the node that computes the part, with the padding left at the part's edges
  std::map<int, Ints> ints;  // new values of i64 constants by input index: pads, shapes, starts
  // The rows that the node computes, if they can be more than the requested rows because the node computes
  // rows in blocks: a Resize by 3 computes rows 3 to 15 for rows 4 to 13.
  std::optional<IndexRange> rows = {};
};

// Returns what the node needs to compute `part` of every output that is present. Returns nothing if the node
// cannot be divided in this way: a reduction along that axis, a shape that depends on data, an operator
// without a rule. Callers do not ask for all rows, because a node always computes them from all inputs.
std::optional<Division> Divide(const Graph& graph, const Node& node, const Part& part);

}  // namespace mete
