// Why a file could not be opened, and what to try instead.
#pragma once

#include <string>

namespace mete {

// Throws NOT_FOUND with what `error` (an errno) means and, where nothing of the name is there, with the names beside it that are like it.
// `where` is the path where it is empty; a flag's name and the path where the user named the file by a flag.
[[noreturn]] void FailToOpen(const std::string& path, int error, const std::string& where = "");

}  // namespace mete
