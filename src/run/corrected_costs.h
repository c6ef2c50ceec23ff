// Corrects the costs of a pool by the times that a plan took when it ran. Sums of single layers leave out
// effects of a share's own shapes, of caches and of gaps between kernels. Echoes leave out that both ends
// send at the same time and put received rows beside their own.
#pragma once

#include "costs/pool.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "run/group_times.h"

namespace mete {

// Returns costs by which the shares of the plan, and the bytes that it sends, take the measured times. If
// all shares of a divided group took longer than predicted, their division by rows, or by channels, is made
// dearer by the common factor, and the layers of each processor by the rest. A share with a time of 0 was
// not measured. Factors are bounded, because a time that is far off was disturbed.
PoolCosts Corrected(PoolCosts costs, const Plan& plan, const GroupTimes& took);

// Returns costs by which the plan takes `us` in all, as far as possible; every hand-over gets the same part
// of the difference. The sum of the groups' times leaves out that a share takes longer in one run and less in
// the next, so that at each hand-over one processor waits for another which is late in this run. All links
// become dearer, because the processors that the plan does not use would be late as often. The difference is
// bounded, because a time that is far off was disturbed. Costs stay as they are if the plan has no hand-over
// or takes less than predicted: then a processor that was done early continued at once.
PoolCosts CorrectedInAll(PoolCosts costs, const Graph& graph, const Plan& plan, double us);

}  // namespace mete
