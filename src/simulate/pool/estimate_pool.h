// What a model's layers would take on processors that are described and not here: each layer's graph, alone
// and through all passes, planned for all cores of the processor's machine file (costs/estimate.h,
// plan/cores); and the watts, by the machine file's power model. Estimates throughout.
#pragma once

#include "costs/pool.h"
#include "graph/graph.h"
#include "machine/pool_file.h"

namespace mete {

// `graph` as it is before the pass `layout`. A join takes what the copy takes that it is where its inputs
// come from elsewhere. Within a group it may be none, because convolutions write in place: then the group
// takes less. What is left of a layer however few rows are computed is twice its half less the whole.
// The pool is described (PoolFile::described): each device is one processor, so that no two share a memory.
PoolCosts EstimatePool(const Graph& graph, const PoolFile& file);

}  // namespace mete
