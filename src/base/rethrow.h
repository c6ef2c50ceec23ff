// Names a node or a file in errors from code that does not know which node or file it works for, such as a
// kernel.
#pragma once

#include <string>

namespace mete {

// Call this function within a catch block. It throws the current exception as an Error whose message names
// `where` (unless the message already does). A failed allocation becomes RESOURCE_EXHAUSTED. Other exceptions
// are thrown again unchanged.
[[noreturn]] void RethrowNaming(const std::string& where);

}  // namespace mete
