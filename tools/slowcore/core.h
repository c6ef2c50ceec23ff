// Threads and cores: where the calling thread runs.
#pragma once

#include <vector>

namespace mete::slowcore {

// The cores that this process may use at all, whatever its own affinity is.
std::vector<int> CoresAllowed();

// Pins the calling thread. Throws UsageError that lists the cores where it may not run there.
void PinTo(int core);

}  // namespace mete::slowcore
