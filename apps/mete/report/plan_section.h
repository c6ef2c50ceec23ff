// The report's view of a plan for several processors, and of what was weighed.
#pragma once

#include "mete/pool.h"
#include "report/document.h"

namespace mete::cli {

// Adds the plan, its alternatives and its sentences.
void AddPlan(const PoolPlan& plan, Report& report);

// Adds a point of energy for each plan and for each processor alone. `plans` are of all objectives; those
// without joules give none.
void AddEnergy(const std::vector<PoolPlan>& plans, const std::string& chosen, Report& report);

}  // namespace mete::cli
