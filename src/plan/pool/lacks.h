// What the processors of a pool cannot compute of a model, for people.
#pragma once

#include <string>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"

namespace mete {

// Returns a line for each reason for which a processor lacks layers, in the order of the first of these:
// "cannot compute layer 'boxes' and 3 more: no kernel for operator NonMaxSuppression". Empty: it lacks none.
std::vector<std::string> LacksOf(const Graph& graph, const ProcessorCosts& processor);

}  // namespace mete
