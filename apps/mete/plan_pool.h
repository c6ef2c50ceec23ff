// Prints `mete plan --processors`: which device computes which rows of which group of layers.
#pragma once

#include <string>

#include "context.h"
#include "graph/graph.h"

namespace mete::cli {

// `graph`: as it is before the pass `layout`. `model`: as the user named it. `objective`: one of
// PoolObjectives(). `explain`: also print links, and why processors have no part (explain_pool.h).
void PlanForPool(const Graph& graph, const std::string& model, const std::string& processors,
                 const std::string& objective, bool explain, const Context& context);

}  // namespace mete::cli
