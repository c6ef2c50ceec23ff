// The shapes of a model's inputs. They come from the file and from the caller; the remaining dimensions get
// defaults.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/import.h"
#include "import/problems.h"
#include "import/onnx/proto.h"

namespace mete::onnx_import {

struct Input {
  std::string name;
  DType type;
  Shape shape;
  Shape declared;                 // the shape for Port::declared
  std::vector<std::string> dims;  // the names for Port::dims
};

// Returns the type of a tensor, or of the tensor that an optional value has: an input of that kind is one
// that the caller gives, as whatever asks whether it is there asks before the model runs.
const ::onnx::TypeProto_Tensor& TensorTypeOf(const ::onnx::ValueInfoProto& value);

// Returns the graph's inputs in order, without those that are also in `constants`. Adds a note for each input
// with a dimension that got a default.
std::vector<Input> ResolveInputs(const ::onnx::GraphProto& graph, const std::set<std::string>& constants,
                                 const ImportOptions& options, std::vector<std::string>& notes,
                                 ImportProblems& problems);

}  // namespace mete::onnx_import
