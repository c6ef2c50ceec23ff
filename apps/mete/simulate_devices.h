// `mete simulate --processors`: a model over several devices that are not here, by each planner, in virtual
// time.
#pragma once

#include <string>

#include "context.h"
#include "graph/graph.h"

namespace mete::cli {

struct SimulateDevicesFlags {
  std::string model;                  // as the user named it
  std::string devices;                // the file
  std::string planner = "all";        // or a name of DevicePlanners()
  std::string objective = "latency";  // a name of DevicesObjectives(); UsageError for another
  int requests = 0;                   // in a row, for throughput; 0: many
  std::string trace;                  // where it is written; of one planner
};

// `graph` as it is before the pass `layout`.
void SimulateOverDevices(const Graph& graph, const SimulateDevicesFlags& flags, const Context& context);

}  // namespace mete::cli
