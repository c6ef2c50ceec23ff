// Why a file could not be opened, and what to try instead.
#pragma once

#include <string>

namespace mete {

// Throws NOT_FOUND with the meaning of `error`, an errno. If the file does not exist, the message proposes
// files of the same folder whose names are similar. `where` stands in the message's brackets: "--plan p.json"
// for a file that a flag names; empty: the path.
[[noreturn]] void FailToOpen(const std::string& path, int error, const std::string& where = "");

}  // namespace mete
