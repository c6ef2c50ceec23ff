// The times of a share's launches as those of its nodes.
#pragma once

#include <span>

#include "graph/graph.h"
#include "mete/engine.h"
#include "processor/opencl/api/opencl.h"

namespace mete::opencl {

// Returns an event for each node, in the order of the nodes, which begins with the node's first launch and is
// as long as its launches together. `nodes`: of each launch; launches of no node count for none. Times are
// nanoseconds since the first launch was enqueued.
Trace TraceOf(const Graph& graph, std::span<const int> nodes, std::span<const EventTimes> times);

}  // namespace mete::opencl
