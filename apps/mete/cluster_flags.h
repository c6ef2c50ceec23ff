// A flag of the commands that work for another machine: the choice of its cores.
#pragma once

#include <string>
#include <vector>

#include "machine/file.h"

namespace mete::cli {

// Returns the number of computing cores of each cluster of the machine file: "big" means all cores of a
// cluster, "big:2" two of them; no words: all cores.
std::vector<int> ClusterCores(const std::vector<std::string>& words, const MachineFile& file);

}  // namespace mete::cli
