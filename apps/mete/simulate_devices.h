// `mete simulate --devices`: a model over several devices that are not here, by each planner, in virtual time.
#pragma once

#include <string>

#include "context.h"
#include "graph/graph.h"

namespace mete::cli {

// `graph` as it is before the pass `layout`; `model` as the user named it; `planner` a name or "all".
void SimulateOverDevices(const Graph& graph, const std::string& model, const std::string& devices, const std::string& planner,
                         const Context& context);

}  // namespace mete::cli
