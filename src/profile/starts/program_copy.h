// A copy of this program with those of its libraries that no other process maps. This process maps its own
// files, so they could not leave memory while it measures; those of the copy leave it once the copy has
// ended.
#pragma once

#include <string>
#include <vector>

namespace mete {

struct ProgramCopy {
  std::string program;
  std::string libraries;           // which the copy has to look in first: LD_LIBRARY_PATH
  std::vector<std::string> files;  // all that was copied
};

// Copies this process's program and libraries into `folder`, which exists. Error UNAVAILABLE.
ProgramCopy CopyThisProgram(const std::string& folder);

}  // namespace mete
