// Selects the reductions that the fast kernels compute, and describes each in their terms. As in
// dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "kernels/fast/reduce/reduce.h"

namespace mete {

struct Reduction {
  ReduceShape shape;

  std::string kernel() const;
};

ReduceFunction ReduceFunctionOf(std::string_view op);  // of one of the operators Reduce...

// Returns the work of an operator Reduce.... Returns nothing if only the reference kernel can compute it;
// `why` then receives the reason.
std::optional<Reduction> ReductionOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
