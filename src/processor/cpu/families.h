// The fast kernels' side of the CPU: each family says whether it can take a node, and prepares it.
#pragma once

#include "processor/cpu/cpu.h"

namespace mete {

// The first family that takes the node. Null where none does; `why` then says why those that know the
// operator declined.
std::unique_ptr<Prepared> PrepareFast(const Graph& graph, const Node& node, Pool& pool, std::string* why);

}  // namespace mete
