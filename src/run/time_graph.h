// Times a graph on a processor of this process, for profiles.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "processor/processor.h"
#include "run/turn.h"

namespace mete {

// Returns small values of both signs; integers are 0, which is a valid index of anything. `memory` allocates
// the tensors, here and below: that of the processor which computes with them (Processor::SharedMemory()).
Tensor MadeUp(DType type, const Shape& shape, const MakeTensor& memory = nullptr);

// Returns made-up values for `ids`, whose shapes are known. Values of one type share their bytes, so that
// nodes which do not feed each other read from a cache, as they do within a model.
std::vector<Tensor> MadeUpInputs(const Graph& graph, std::span<const ValueId> ids,
                                 const MakeTensor& memory = nullptr);

struct GraphTimes {
  std::vector<double> us;  // of each run
  // the least time of each node, in the order in which the nodes run
  std::vector<std::pair<std::string, double>> nodes;
  double prepare_ms = 0;  // of making the graph ready, if that was done for these runs
};

// Runs the graph of which `ready` was made: once without counting, then `runs` times, or fewer times if they
// take longer than a second together, but at least once. Each run takes `turn` anew, so that other threads
// compute between the runs. `cancel` may be null. Error CANCELLED if it was cancelled.
GraphTimes TimeRuns(Ready& ready, const Graph& graph, std::span<const Tensor> inputs, int runs, Turn& turn,
                    const CancelToken* cancel, const MakeTensor& memory = nullptr);

}  // namespace mete
