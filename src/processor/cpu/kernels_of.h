// The kernels that a CPU is expected to compute a share with, for explanations.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

// Returns the kernel of each node behind the passes ("conv_f32", "reference"), the one with the least time by
// estimate where there are several; views have none. `share` is a graph before the pass `layout`.
std::vector<std::string> CpuKernelsOf(const Graph& share);

}  // namespace mete
