#include "graph/node_names.h"

#include <fmt/format.h>

namespace mete {

NodeNames::NodeNames(const Graph& graph) {
  for (const Node& node : graph.nodes) used_.emplace(node.name, 1);
}

std::string NodeNames::Unique(const std::string& wanted) {
  int& next = used_[wanted];
  if (next++ == 0) return wanted;
  for (;;) {
    std::string candidate = fmt::format("{}_{}", wanted, next++);
    if (used_.emplace(candidate, 1).second) return candidate;
  }
}

}  // namespace mete
