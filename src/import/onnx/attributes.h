// From AttributeProto to Attributes.
#pragma once

#include <string>

#include "base/attributes.h"
#include "import/onnx/problems.h"
#include "import/onnx/proto.h"
#include "import/onnx/tensors.h"

namespace mete::onnx_import {

// `where` names the node. What does not fit goes to `problems`. Attributes that name an element type ("to",
// "dtype", "output_dtype") become Mete's name of the type.
Attributes ReadAttributes(const ::onnx::NodeProto& node, const std::string& where, TensorReader& tensors,
                          Problems& problems);

}  // namespace mete::onnx_import
