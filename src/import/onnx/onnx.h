// The ONNX front end: opset 7 to 28, to Graph's canonical form (ONNX at opset 24).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "import/import.h"

namespace mete {

// Throws Error: NOT_FOUND for a missing file, DATA_LOSS for one that is not ONNX or is truncated,
// INVALID_ARGUMENT for a model that contradicts itself, UNIMPLEMENTED with every unsupported operator
// listed. External data is looked for in the model's folder only.
Imported ImportOnnx(const std::string& path, const ImportOptions& options);

// The same from memory that `owner` keeps alive (constants may point into it). `folder` holds external
// data; empty: the model may have none. `name` is for messages.
Imported ImportOnnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                    const std::string& name, const std::string& folder, const ImportOptions& options);

}  // namespace mete
