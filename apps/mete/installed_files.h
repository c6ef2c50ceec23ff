// Finds files that come with Mete: in PREFIX/share/mete if Mete is installed, in the source tree if the
// program was built there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mete::cli {

// Returns this program's own path. Error UNAVAILABLE if the system does not tell it.
std::filesystem::path ThisProgram();

// Returns the first of `places`, for example {"share/mete/boards", "boards"}, that exists in this program's
// folder or in a folder above it. Empty if none exists.
std::filesystem::path FindInstalled(const std::vector<std::string>& places);

// Returns the path of a file that describes hardware: the file called `name`, or else the installed file of
// that name, with or without its ending ("raspberry-pi-5"). Error NOT_FOUND naming `flag` if there is
// neither.
std::string FindBoard(const std::string& name, const char* flag);

}  // namespace mete::cli
