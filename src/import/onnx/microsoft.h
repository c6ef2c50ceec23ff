// Operators of the domain com.microsoft that ONNX Runtime's quantizer, its optimizer and exporters of
// transformers write.
#pragma once

#include <string_view>

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

// The name of the domain.
inline constexpr std::string_view kMicrosoft = "com.microsoft";

// Returns true if ExpandMicrosoft() knows the operator.
bool IsMicrosoft(std::string_view op);

// Replaces the node by operators of ONNX with the same meaning: all but the last one are added to the graph,
// and the last one is u.node. For example, QLinearAdd becomes two DequantizeLinear, an Add and a
// QuantizeLinear.
void ExpandMicrosoft(Upgrade& u);

}  // namespace mete::onnx_import
