// What a server tells of a model that is loaded.
#pragma once

#include <string>
#include <vector>

#include "serve/protocol/metadata.h"
#include "serve/server/loaded.h"

namespace mete::serve {

// `versions` are those of the model that are ready. A dimension that is open is -1.
ModelMetadata MetadataOf(const Loaded& loaded, std::vector<std::string> versions);

PictureUse PictureUseOf(const ServedModel& model);

}  // namespace mete::serve
