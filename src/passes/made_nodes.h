// Nodes that passes add, with the values that they compute.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "graph/graph.h"

namespace mete {

// Adds the node `name` + `suffix` and its output, which has the type of the first input, and returns the
// output. `attributes` may be null.
ValueId AddMade(Graph& graph, const char* op, const std::string& name, const char* suffix,
                std::span<const ValueId> inputs, const Shape& shape, const Attributes* attributes = nullptr);
inline ValueId AddMade(Graph& graph, const char* op, const std::string& name, const char* suffix,
                       std::initializer_list<ValueId> inputs, const Shape& shape,
                       const Attributes* attributes = nullptr) {
  return AddMade(graph, op, name, suffix, std::span(inputs.begin(), inputs.size()), shape, attributes);
}
ValueId AddReshape(Graph& graph, const std::string& name, const char* suffix, ValueId from, const Shape& to);
ValueId AddTranspose(Graph& graph, const std::string& name, const char* suffix, ValueId from,
                     std::span<const int64_t> perm);
inline ValueId AddTranspose(Graph& graph, const std::string& name, const char* suffix, ValueId from,
                            std::initializer_list<int64_t> perm) {
  return AddTranspose(graph, name, suffix, from, std::span(perm.begin(), perm.end()));
}
ValueId AddList(Graph& graph, const std::string& name, const char* suffix, std::span<const int64_t> values);
inline ValueId AddInt(Graph& graph, const std::string& name, const char* suffix, int64_t value) {
  return AddList(graph, name, suffix, {&value, 1});
}

}  // namespace mete
