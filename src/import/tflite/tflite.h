// The TensorFlow Lite front end. It converts a .tflite file (version 3 of the format) to Graph's canonical
// form.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "import/import.h"

namespace mete {

// Reads the first subgraph of the model in the file `path`. Inputs and outputs have the types, shapes and
// order of dimensions (NHWC) that the file gives them. Throws the same errors as ImportOnnx()
// (import/onnx/onnx.h).
Imported ImportTflite(const std::string& path, const ImportOptions& options);

// Reads the model from memory that `owner` keeps alive; constants of the result may point into this memory.
Imported ImportTflite(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                      const std::string& name, const ImportOptions& options);

}  // namespace mete
