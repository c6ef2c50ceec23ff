// Which kernels compute the shares of a plan, for explanations.
#pragma once

#include "graph/graph.h"
#include "machine/pool_file.h"
#include "mete/pool.h"
#include "plan/plan.h"

namespace mete {

// Fills in the kernels of the shares of a report, which has the groups of the plan. `file` names every
// processor of the plan (AsMeasured()).
void AddKernelNames(const Graph& graph, const Plan& plan, const PoolFile& file, PoolPlan& report);

}  // namespace mete
