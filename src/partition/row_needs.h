// Tables of the results of Divide() for all rows of a node, so that a planner that needs the results for
// millions of parts gets each in nanoseconds.
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
  explicit RowNeeds(const Graph& graph) : graph_(graph) {}  // `graph` must outlive this object

  // Returns the part of each input that `node` needs to compute `part` of its outputs; All() for omitted
  // inputs. Sets `part` to the part that the node then computes: All() if the node cannot be divided in this
  // way, and more rows if it computes rows in blocks. A test checks that the results equal those of Divide().
  // The returned list is valid until the next call.
  const std::vector<Part>& Inputs(int node, Part& part);

 private:
  struct Table {
    bool divides = false;
    // True if the tables below are filled: the rows of an input then reach from the begin for the first
    // output row to the end for the last one. If false, every call computes Divide().
    bool by_rows = false;
    std::vector<int> axes;                           // one per input; kAllAxes if it is needed whole
    std::vector<std::vector<int32_t>> begins, ends;  // by input and output row
    std::vector<IndexRange> computes;  // by row, if the node computes rows in blocks; else empty
  };
  const Table& TableOf(int node, int axis);
  Table MakeTable(const Node& node, int axis) const;

  const Graph& graph_;
  std::map<std::pair<int, int>, Table> tables_;  // by node and axis
  std::vector<Part> answer_;
};

}  // namespace mete
