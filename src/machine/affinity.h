// The cores that this process can use.
#pragma once

#include <vector>

#include "machine/machine.h"
#include "machine/sysfs.h"

namespace mete {

// Returns which cores this process can use; `allowed` has at least one core. In a recorded tree the process's
// mask is read from proc/self/status instead of the system call.
Affinity ReadAffinity(Sysfs& sysfs);

// Returns the cores that this process can use on this machine, without what else ReadMachine() reads.
std::vector<int> AllowedCores();

}  // namespace mete
