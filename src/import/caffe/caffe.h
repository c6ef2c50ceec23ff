// The Caffe front end. It converts a deploy.prototxt and a .caffemodel (V0, V1 and V2 layers) to Graph's
// canonical form.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "import/import.h"

namespace mete {

// Reads the net and its weights from files. Throws the same errors as ImportOnnx() (import/onnx/onnx.h).
// Caffe's blobs are NCHW and so are the Graph's values.
Imported ImportCaffe(const std::string& prototxt_path, const std::string& caffemodel_path,
                     const ImportOptions& options);

// Reads the net and its weights from memory, for tests and fuzzing. Throws for empty `weights` if a layer
// needs weights.
Imported ImportCaffe(std::string_view prototxt, std::span<const std::byte> weights, const std::string& name,
                     const ImportOptions& options);

}  // namespace mete
