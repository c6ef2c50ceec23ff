// Unicode's normal forms, by a library that a build may leave out.
#pragma once

#include "text/text_changes.h"

namespace mete {

// Adds the change of a normalizer whose type is NFC, NFD, NFKC or NFKD. A problem of the part where this
// build has none (METE_NORMAL_FORMS=OFF). Returns false, and adds none, for other types.
bool AddNormalForm(const std::string& type, JsonPart& part, std::vector<TextChange>& changes);

}  // namespace mete
