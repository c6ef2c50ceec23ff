// What every front end takes and gives besides the Graph.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct ImportOptions {
  // Full shapes of graph inputs by name; override what the file says where it leaves dimensions open.
  std::map<std::string, Shape> input_shapes;
  // Largest constant or activation that may be asked for by numbers in a file.
  int64_t max_value_bytes = int64_t(1) << 33;
};

struct Imported {
  Graph graph;                     // sorted; only constants and inputs are sure to have types and shapes
  std::vector<std::string> notes;  // what was assumed: "input 'data': dimension 0 ('N') set to 1; ..."
};

}  // namespace mete
