// The files of programs and drivers, and how to see that one has changed.
#pragma once

#include <string>
#include <vector>

namespace mete::opencl {

// Returns a line of the file's path, size and time of change, or "PATH missing".
std::string FileFacts(const std::string& path);

// Returns the paths of the files whose code this process has loaded: the program, libraries, drivers.
std::vector<std::string> LoadedFiles();

}  // namespace mete::opencl
