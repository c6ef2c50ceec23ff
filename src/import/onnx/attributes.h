// Conversion of AttributeProto to Attributes.
#pragma once

#include <string>

#include "base/attributes.h"
#include "graph/graph.h"
#include "import/problems.h"
#include "import/onnx/proto.h"
#include "import/onnx/tensors.h"

namespace mete::onnx_import {

// Returns the attributes of `node`. `where` names the node in messages. Attributes that cannot be converted
// are left out and reported to `problems`. An attribute that names an element type ("to", "dtype",
// "output_dtype") becomes the type's name in Mete; for example to=1 becomes "f32". Names that
// begin with "mete_" are the importers'.
Attributes ReadAttributes(const ::onnx::NodeProto& node, const std::string& where, TensorReader& tensors,
                          ImportProblems& problems);

// Reports and removes the attributes of the imported node that only Mete's own passes may write
// (graph/fused.h). A file must not contain them, because kernels do not check them. The node's operator is
// Mete's, which may have another name in the file.
void RefuseReserved(Node& node, const std::string& where, ImportProblems& problems);

}  // namespace mete::onnx_import
