// The cores that threads can run on.
#pragma once

#include <vector>

namespace mete::slowcore {

// Returns the cores that this process may use, whatever its own affinity is.
std::vector<int> CoresAllowed();

// Pins the calling thread. If the core is not allowed, throws UsageError with the list of allowed cores.
void PinTo(int core);

}  // namespace mete::slowcore
