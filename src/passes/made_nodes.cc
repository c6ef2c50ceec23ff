#include "passes/made_nodes.h"

namespace mete {

ValueId AddMade(Graph& graph, const char* op, const std::string& name, const char* suffix,
                std::span<const ValueId> inputs, const Shape& shape, const Attributes* attributes) {
  const std::string full = name + suffix;
  const ValueId made = graph.AddValue(full + ".made", graph.value(inputs[0]).type, Shape(shape));
  graph.AddNode(op, full, {inputs.begin(), inputs.end()}, {made}, attributes ? *attributes : Attributes());
  return made;
}

ValueId AddList(Graph& graph, const std::string& name, const char* suffix, std::span<const int64_t> values) {
  return graph.AddConstant(name + suffix, Tensor::Ints(values));
}

ValueId AddReshape(Graph& graph, const std::string& name, const char* suffix, ValueId from, const Shape& to) {
  return AddMade(graph, "Reshape", name, suffix, {from, AddList(graph, name + suffix, ".to", to.dims())}, to);
}

ValueId AddTranspose(Graph& graph, const std::string& name, const char* suffix, ValueId from,
                     std::span<const int64_t> perm) {
  Attributes attributes;
  attributes.Set("perm", Ints(perm.begin(), perm.end()));
  Shape shape;
  for (const int64_t p : perm) shape.push_back(graph.value(from).shape[int(p)]);
  return AddMade(graph, "Transpose", name, suffix, {from}, shape, &attributes);
}

}  // namespace mete
