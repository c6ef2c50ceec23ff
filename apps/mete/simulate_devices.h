// `mete simulate --processors`: simulates a model over several devices, with the plan of each planner, in
// virtual time.
#pragma once

#include <string>

#include "context.h"
#include "graph/graph.h"

namespace mete::cli {

struct SimulateDevicesFlags {
  std::string model;                  // as the user named it
  std::string devices;                // the devices file
  std::string planner = "all";        // "all" or a name of DevicePlanners()
  std::string objective = "latency";  // a name of DevicesObjectives(); UsageError for another
  int requests = 0;                   // the number of requests in a row, for throughput; 0: many
  std::string trace;                  // the file for the trace; needs one planner
};

// `graph`: as it is before the pass `layout`.
void SimulateOverDevices(const Graph& graph, const SimulateDevicesFlags& flags, const Context& context);

}  // namespace mete::cli
