// A plan for several processors, and the alternatives that were weighed.
#pragma once

#include <vector>

#include "pool.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/objective.h"

namespace mete::cli {

struct PlannedPool {
  const Graph& graph;
  PoolOfFile file;
  const PoolCosts& pool() const { return file.costs; }
  PoolObjective objective;
  Plan plan;
  std::vector<Plan> alone;                 // for each device, the plan with the whole model on it
  size_t best_alone = 0;                   // an index into `alone`
  std::vector<LeftOutProcessor> left_out;  // only of plans for latency
  double simulated_us = 0;
};

}  // namespace mete::cli
