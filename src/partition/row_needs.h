// What Divide() says, kept for all rows of a node at once, so that a planner that asks for millions of parts
// gets each in nanoseconds.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "partition/part.h"

namespace mete {

class RowNeeds {
 public:
  explicit RowNeeds(const Graph& graph) : graph_(graph) {}  // keeps a reference

  // The part of each input of a node that a part of its outputs needs; of left-out ones all. `part` becomes
  // All() where the node cannot be divided so, and more rows where it makes them in blocks: what is computed
  // then. The same as Divide() says (a test). Valid until the next call.
  const std::vector<Part>& Inputs(int node, Part& part);

 private:
  struct Table {
    bool divides = false;
    // an input's rows are those of the first to those of the last: else Divide() is asked each time
    bool by_rows = false;
    std::vector<int> axes;                           // of each input; Part::kAllAxes where it is needed whole
    std::vector<std::vector<int32_t>> begins, ends;  // by input and row
    // by row, where the node makes them in blocks; else empty
    std::vector<IndexRange> computes;
  };
  const Table& TableOf(int node, int axis);
  Table MakeTable(const Node& node, int axis) const;

  const Graph& graph_;
  std::map<std::pair<int, int>, Table> tables_;  // by node and axis
  std::vector<Part> answer_;
};

}  // namespace mete
