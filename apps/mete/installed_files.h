// Files that come with Mete: in PREFIX/share/mete where it is installed, in its source tree where it was
// built there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mete::cli {

std::filesystem::path ThisProgram();  // Error where the system does not tell

// The first of the places that is there in this program's folder or one above: {"share/mete/boards",
// "boards"}. Empty where none is.
std::filesystem::path FindInstalled(const std::vector<std::string>& places);

// The path of a file that describes hardware: the file of that name, or else the one that is installed, whose
// ending may be left out
// ("raspberry-pi-5"). UsageError naming `flag` where there is neither.
std::string FindBoard(const std::string& name, const char* flag);

}  // namespace mete::cli
