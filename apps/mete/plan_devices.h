// Prints `mete plan --processors`: which device computes which rows of which group of layers.
#pragma once

#include <string>

#include "context.h"
#include "graph/graph.h"

namespace mete::cli {

// `graph`: as it is before the pass `layout`. `model`: as the user named it. `objective`: one of
// DevicesObjectives(). `explain`: also print links, and why devices have no part (explain_devices.h).
void PlanForDevices(const Graph& graph, const std::string& model, const std::string& devices,
                    const std::string& objective, bool explain, const Context& context);

}  // namespace mete::cli
