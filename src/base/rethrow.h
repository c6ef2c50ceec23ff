// For whoever calls code that does not know on whose behalf it works.
#pragma once

#include <string>

namespace mete {

// Within a catch block: throws the current exception as an Error whose message names `where` (unless it does
// already). A failed allocation becomes RESOURCE_EXHAUSTED; what is neither that nor an Error goes on
// unchanged.
[[noreturn]] void RethrowNaming(const std::string& where);

}  // namespace mete
