// `mete simulate --processors`: simulates a model over several processors, with the plan of each planner, in
// virtual time.
#pragma once

#include <string>

#include "context.h"
#include "mete/engine.h"

namespace mete::cli {

struct SimulatePoolFlags {
  std::string model;                  // as the user named it
  std::string processors;             // the devices file, or a list
  std::string machine;                // the machine file of a list's processors; empty: there is none
  std::string planner = "all";        // "all" or a name of PoolPlanners()
  std::string objective = "latency";  // a name of PoolObjectives(); UsageError for another
  int requests = 0;                   // the number of requests in a row, for throughput; 0: many
  std::string trace;                  // the file for the trace; needs one planner
};

void SimulateOverPool(const Model& model, const SimulatePoolFlags& flags, const Context& context);

}  // namespace mete::cli
