// Names for new nodes of a graph.
#pragma once

#include <map>
#include <string>

#include "graph/graph.h"

namespace mete {

// Gives each node a name of its own.
class NodeNames {
 public:
  NodeNames() = default;
  explicit NodeNames(const Graph& graph);  // whose nodes' names are in use

  // Returns `wanted`, or `wanted` with a number behind it if that name is in use.
  std::string Unique(const std::string& wanted);

 private:
  std::map<std::string, int> used_;  // by name: the number to try next
};

}  // namespace mete
