// The options that every front end takes, and the result that it returns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "mete/engine.h"

namespace mete {

struct ImportOptions {
  // These three fields have the same meaning as in LoadOptions.
  std::map<std::string, Shape> input_shapes, tensor_shapes;
  int64_t batch = 0;
  // The largest constant or activation, in bytes, that the dimensions in a file may ask for.
  int64_t max_value_bytes = int64_t(1) << 33;
};

struct Imported {
  Graph graph;                     // sorted; only constants and inputs are sure to have types and shapes
  std::vector<std::string> notes;  // one line for each assumption of the front end
  std::map<std::string, Shape> declared;                 // by input name: the shape for Port::declared
  std::map<std::string, std::vector<std::string>> dims;  // by input name: the names for Port::dims
  std::map<std::string, PortScale> scales;               // by input or output name: Port::scale
  std::map<std::string, std::string> metadata;           // returned by Model::metadata()
  FileInfo file = {};                                    // returned by Model::file()
};

// Returns the shape that `shapes` holds for `input`, or the shape under "" if the model has only one input.
// Returns null if there is neither. `inputs` is the number of the model's inputs.
inline const Shape* ShapeGiven(const std::map<std::string, Shape>& shapes, const std::string& input,
                               size_t inputs) {
  auto at = shapes.find(input);
  if (at == shapes.end() && inputs == 1) at = shapes.find("");
  return at == shapes.end() ? nullptr : &at->second;
}

}  // namespace mete
