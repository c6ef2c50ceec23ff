// The ONNX front end. It reads models of opset 7 to 28 and returns Graph's canonical form (ONNX at opset 24).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "import/import.h"

namespace mete {

// Reads the model in the file `path`. Throws Error: NOT_FOUND for a missing file, DATA_LOSS for a file that
// is not ONNX or is truncated, INVALID_ARGUMENT for a model that contradicts itself, and UNIMPLEMENTED, with
// a list of every unsupported operator. External data is read from the model's folder only.
Imported ImportOnnx(const std::string& path, const ImportOptions& options);

// Reads the model from memory that `owner` keeps alive; constants of the result may point into this memory.
// `folder` holds the external data; if it is empty, external data is an error. Messages use `name`.
Imported ImportOnnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                    const std::string& name, const std::string& folder, const ImportOptions& options);

}  // namespace mete
