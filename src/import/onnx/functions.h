// Model-local functions: the importer replaces every call by the function's nodes.
#pragma once

#include <vector>

#include "import/problems.h"
#include "import/onnx/proto.h"

namespace mete::onnx_import {

struct FlatNode {
  ::onnx::NodeProto proto;
  int64_t opset = 0;  // of the default domain, as imported by the model or function that holds the node
};

// Moves the nodes out of `model` and returns them with all calls expanded. The nodes of expanded functions
// may take at most `max_bytes`, because in a hostile file functions that call functions grow exponentially.
std::vector<FlatNode> InlineFunctions(::onnx::ModelProto& model, int64_t opset, int64_t max_bytes,
                                      Problems& problems);

// Returns whether `domain` is "" or "ai.onnx", which are two names of the same domain.
bool IsDefaultDomain(const std::string& domain);

// Returns the version of the default domain in a list of imports, or 0 if the list does not have that domain.
template <class Imports>
int64_t DefaultOpset(const Imports& imports) {
  int64_t version = 0;
  for (const auto& import : imports)
    if (IsDefaultDomain(import.domain())) version = std::max<int64_t>(version, import.version());
  return version;
}

}  // namespace mete::onnx_import
