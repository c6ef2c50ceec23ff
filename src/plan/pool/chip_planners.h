// Planners of other systems for the CPU and the GPU of one chip, for comparison (named.h). They use the home
// and the fastest other processor of a pool, and leave out the rest.
//
// Source: systems.md, 2, and chip.md.
#pragma once

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/plan.h"

namespace mete {

// Every layer on the processor that takes less for it alone, as if data were everywhere at once. Layers that
// follow each other on one processor are one group.
Plan PlanLayerToProcessor(const Graph& graph, const PoolCosts& pool);

// muLayer: the channels of every layer in proportion to the speeds that FlopsLinearCosts() predicts, without
// any cost of sharing. Where a network forks, the branches are side by side if that is predicted to take less
// than the faster processor takes for all of them; this rule is ours, because no public source tells theirs.
// predicted_us is the planner's own, the times of shares are those of `pool`.
Plan PlanMulayer(const Graph& graph, const PoolCosts& pool);

// CoDL: for single layers rows or channels on a grid of ratios, for chains of at most 30 layers rows. A chain
// grows by the next layer as long as it is predicted to take less than the chain and that layer by itself.
// Its cost is what its inputs and outputs take from and to the home, and the sum over its layers of the
// slower processor's time (which nothing in the execution calls for; chip.md).
Plan PlanCodl(const Graph& graph, const PoolCosts& pool);

}  // namespace mete
