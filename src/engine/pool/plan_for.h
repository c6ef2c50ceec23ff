// What a session on a pool plans by.
#pragma once

#include <string>

#include "mete/pool.h"
#include "plan/pool/objective.h"

namespace mete {

// Returns the objective that the options name; the default depends on the number of lanes. Error for an
// unknown name.
PoolObjective ObjectiveOf(const PoolOptions& options);

// Error if the planner of the options is unknown, or does not plan for their objective.
void CheckPlanner(const PoolOptions& options);

}  // namespace mete
