// The import of a model that lies in memory.
#pragma once

#include "import/import.h"
#include "mete/engine.h"

namespace mete {

// Reads the model in the format that its bytes have. Constants of the result point into the bytes, or into a
// copy of them if the model has no owner. Error INVALID_ARGUMENT for no bytes, RESOURCE_EXHAUSTED if there is
// no memory for the copy, and those of the importers.
Imported ImportMemory(const MemoryModel& model, const ImportOptions& options);

}  // namespace mete
