#include "dispatch/options.h"

#include <algorithm>

namespace mete {

DispatchOptions OptionsFor(const Graph& graph) {
  const bool quantized = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                     [](const Node& node) { return node.op == "QuantizeLinear"; });
  return {.conv = std::nullopt, .plain_sums = quantized};
}

bool HasBytes(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(), [](const Value& v) {
    return !v.is_constant() && (v.type == DType::kU8 || v.type == DType::kI8);
  });
}

}  // namespace mete
