// Costs of a pool, corrected by what a plan took when it ran. Sums of single layers leave out what a share's
// own shapes, caches and gaps between kernels do, and echoes leave out that both ends send at the same time
// and put what they get beside what they have.
#pragma once

#include <vector>

#include "costs/pool.h"
#include "plan/plan.h"
#include "run/program_run.h"

namespace mete {

// By processor of the plan and by group: what the processor took; a list may end before the last group.
using GroupTimes = std::vector<std::vector<StageTimes>>;

// Returns the costs in which the shares of the plan and the bytes that it sends take what they took. If all
// shares of a divided group took longer than predicted, their division by rows, or by channels, takes it;
// what one share took beyond that its processor takes for these layers. A share that took 0 is not known.
// Factors are bounded, since what is far off was disturbed.
PoolCosts Corrected(PoolCosts costs, const Plan& plan, const GroupTimes& took);

}  // namespace mete
