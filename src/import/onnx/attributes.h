// Conversion of AttributeProto to Attributes.
#pragma once

#include <string>

#include "base/attributes.h"
#include "import/problems.h"
#include "import/onnx/proto.h"
#include "import/onnx/tensors.h"

namespace mete::onnx_import {

// Returns the attributes of `node`. `where` names the node in messages. Attributes that cannot be converted
// are left out and reported to `problems`. An attribute that names an element type ("to", "dtype",
// "output_dtype") becomes the type's name in Mete; for example to=1 becomes "f32".
Attributes ReadAttributes(const ::onnx::NodeProto& node, const std::string& where, TensorReader& tensors,
                          Problems& problems);

}  // namespace mete::onnx_import
