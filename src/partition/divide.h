// What a node needs of its inputs to compute a part of its outputs. The halo of a convolution, the channels
// of a matrix product and the slices of weights are all this one question; DeepThings' recurrences for fused
// tiles (systems.md, 3) are its answer for windows.
//
// Graphs are as they are before the pass `layout`: plain order, no epilogues.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "partition/part.h"

namespace mete {

struct Division {
  std::vector<Part> inputs;  // one for each of the node's, constants included; not normalized
  Attributes attributes;     // of the node that computes the part: with the padding that is left at its edges
  std::map<int, Ints> ints;  // inputs that are constants of i64 and get other numbers: pads, shapes, starts
  // that the node computes, where it makes rows in blocks: more than those asked for
  std::optional<IndexRange> rows = {};
};

// `part` is one of every output of the node that is there. Nothing where the node cannot be divided so: a
// reduction along that axis, a shape that depends on data, an operator without a rule. All of it can always
// be computed from all inputs; that is not asked here.
std::optional<Division> Divide(const Graph& graph, const Node& node, const Part& part);

}  // namespace mete
