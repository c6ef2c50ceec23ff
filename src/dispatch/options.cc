#include "dispatch/options.h"

#include <algorithm>

namespace mete {

DispatchOptions OptionsFor(const Graph& graph) {
  const bool quantized = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                     [](const Node& node) { return node.op == "QuantizeLinear"; });
  return {.conv = std::nullopt, .plain_sums = quantized};
}

}  // namespace mete
