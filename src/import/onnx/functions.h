// Model-local functions: every call is replaced by the function's nodes.
#pragma once

#include <vector>

#include "import/onnx/problems.h"
#include "import/onnx/proto.h"

namespace mete::onnx_import {

struct FlatNode {
  ::onnx::NodeProto proto;
  int64_t opset = 0;  // of the default domain, as the model or the function that the node comes from asks for
};

// Takes the nodes out of `model`. Expanded functions may hold at most `max_bytes` (calls of calls grow
// exponentially in a hostile file).
std::vector<FlatNode> InlineFunctions(::onnx::ModelProto& model, int64_t opset, int64_t max_bytes,
                                      Problems& problems);

// "" and "ai.onnx" are the same domain.
bool IsDefaultDomain(const std::string& domain);

// The version of the default domain in a list of imports; 0 where it is not there.
template <class Imports>
int64_t DefaultOpset(const Imports& imports) {
  int64_t version = 0;
  for (const auto& import : imports)
    if (IsDefaultDomain(import.domain())) version = std::max<int64_t>(version, import.version());
  return version;
}

}  // namespace mete::onnx_import
