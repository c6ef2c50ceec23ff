// The shapes of a model's inputs: what the file says, what the caller says, and defaults for the rest.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/import.h"
#include "import/onnx/problems.h"
#include "import/onnx/proto.h"

namespace mete::onnx_import {

struct Input {
  std::string name;
  DType type;
  Shape shape;
  Shape declared;  // Port::declared
};

// Inputs that are also in `constants` are left out. Each input of which a dimension was assumed is a note.
std::vector<Input> ResolveInputs(const ::onnx::GraphProto& graph, const std::set<std::string>& constants,
                                 const ImportOptions& options, std::vector<std::string>& notes,
                                 Problems& problems);

}  // namespace mete::onnx_import
