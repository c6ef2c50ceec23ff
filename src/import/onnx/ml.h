// Operators of the domain ai.onnx.ml that compute with numbers.
#pragma once

#include <string_view>

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

// The name of the domain.
inline constexpr std::string_view kMl = "ai.onnx.ml";

// Returns true if ExpandMl() knows the operator.
bool IsMl(std::string_view op);

// Replaces the node by operators of ONNX with the same meaning, and a TreeEnsemble by mete.TreeEnsemble: all
// but the last one are added to the graph, and the last one is u.node.
void ExpandMl(Upgrade& u);

}  // namespace mete::onnx_import
