// The Caffe front end: deploy.prototxt + .caffemodel (V0, V1 and V2 layers) to Graph's canonical form.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "import/import.h"

namespace mete {

// Errors as in import/onnx/onnx.h. Caffe's blobs are NCHW and so are the Graph's.
Imported ImportCaffe(const std::string& prototxt_path, const std::string& caffemodel_path,
                     const ImportOptions& options);

// The same from memory, for tests and fuzzing. An empty `weights` is an error unless no layer needs any.
Imported ImportCaffe(std::string_view prototxt, std::span<const std::byte> weights, const std::string& name,
                     const ImportOptions& options);

}  // namespace mete
