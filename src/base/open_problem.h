// The error for a file that could not be opened, with advice.
#pragma once

#include <string>

namespace mete {

// Throws NOT_FOUND with the meaning of `error`, an errno. If the file does not exist, the message proposes
// files of the same folder whose names are similar. `where` is the text in the message's brackets, such as
// "--plan p.json" for a file that a flag names; if `where` is empty, the brackets hold the path.
[[noreturn]] void FailToOpen(const std::string& path, int error, const std::string& where = "");

}  // namespace mete
