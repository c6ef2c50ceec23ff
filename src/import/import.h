// What every front end takes and gives besides the Graph.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct ImportOptions {
  // As in LoadOptions.
  std::map<std::string, Shape> input_shapes, tensor_shapes;
  int64_t batch = 0;
  // Largest constant or activation that may be asked for by numbers in a file.
  int64_t max_value_bytes = int64_t(1) << 33;
};

struct Imported {
  Graph graph;                     // sorted; only constants and inputs are sure to have types and shapes
  std::vector<std::string> notes;  // what was assumed
  std::map<std::string, Shape> declared;        // of inputs, by name: Port::declared
  std::map<std::string, std::string> metadata;  // Model::metadata()
};

// The shape under an input's name, or under "" where it is the only one of the model's `inputs`; null where
// there is none.
inline const Shape* ShapeGiven(const std::map<std::string, Shape>& shapes, const std::string& input,
                               size_t inputs) {
  auto at = shapes.find(input);
  if (at == shapes.end() && inputs == 1) at = shapes.find("");
  return at == shapes.end() ? nullptr : &at->second;
}

}  // namespace mete
