// What commands share that work for a machine which is not here: the choice of its cores.
#pragma once

#include <string>
#include <vector>

#include "machine/file.h"

namespace mete::cli {

// Of each cluster of the machine file the cores that compute: "big" is all of a cluster, "big:2" two of it;
// no words: all cores.
std::vector<int> ClusterCores(const std::vector<std::string>& words, const MachineFile& file);

}  // namespace mete::cli
