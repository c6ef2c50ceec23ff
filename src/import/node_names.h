// Names for the nodes that an importer adds: each node of a Graph has one of its own.
#pragma once

#include <map>
#include <string>

namespace mete {

class NodeNames {
 public:
  // Returns `wanted`, or `wanted` with a number behind it if that name is in use.
  std::string Unique(const std::string& wanted);

 private:
  std::map<std::string, int> used_;  // by name: the number to try next
};

}  // namespace mete
