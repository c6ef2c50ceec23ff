// Removes nodes that change nothing.
#include <algorithm>

#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

bool SameTypeAndShape(const Graph& graph, const Node& node) {
  const Value &in = graph.value(node.inputs[0]), &out = graph.value(node.outputs[0]);
  return in.type == out.type && in.shape.known() && in.shape == out.shape;
}

bool AllZero(const Graph& graph, ValueId id) {
  if (!IsConstant(graph, id) || graph.value(id).type != DType::kI64) return false;
  const Tensor& t = graph.value(id).constant;
  return std::all_of(t.as<int64_t>(), t.as<int64_t>() + t.elements(), [](int64_t v) { return v == 0; });
}

// Returns true if the output's shape follows from an open constant: it may differ from the input's at other
// sizes, although both are the same here.
bool HasOpenTarget(const Graph& graph, const Node& node) {
  return IsOneOf(node.op, {"Reshape", "Expand", "Tile"}) && node.input(1) != kNoValue &&
         graph.value(node.input(1)).open != kNoValue;
}

bool ChangesNothing(const Graph& graph, const Node& node) {
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue) return false;
  if (node.op == "Identity") return true;
  // Shape inference has rejected training, so a constant training_mode is false.
  if (node.op == "Dropout") return node.input(2) == kNoValue || IsConstant(graph, node.input(2));
  if (IsOneOf(node.op, {"Cast", "CastLike", "Reshape", "Expand", "Flatten", "Squeeze", "Unsqueeze", "Tile"}))
    return SameTypeAndShape(graph, node) && !HasOpenTarget(graph, node);
  if (IsOneOf(node.op, {"Concat", "Sum", "Max", "Min", "Mean"})) return node.inputs.size() == 1;
  if (node.op == "Transpose")
    return node.attributes.Has("perm") && IsIdentity(node.attributes.IntList("perm"));
  if (node.op == "Pad") return AllZero(graph, node.input(1));
  return false;
}

// Makes `source` the graph's output in place of `output`, and gives it the output's name. If `source` is
// itself an input, an output or a constant, an Identity produces the output instead.
void Rename(Graph& graph, ValueId& output, ValueId source) {
  const bool is_input = std::find(graph.inputs.begin(), graph.inputs.end(), source) != graph.inputs.end();
  const bool is_output = std::find(graph.outputs.begin(), graph.outputs.end(), source) != graph.outputs.end();
  if (is_input || is_output || graph.value(source).is_constant()) {
    graph.AddNode("Identity", "output." + graph.value(output).name, {source}, {output});
    return;
  }
  std::swap(graph.value(source).name, graph.value(output).name);
  output = source;
}

}  // namespace

bool Simplify(Graph& graph) {
  std::vector<ValueId> stands_for(graph.values.size());
  for (size_t i = 0; i < stands_for.size(); ++i) stands_for[i] = ValueId(i);
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    for (ValueId& id : node.inputs)
      if (id != kNoValue) id = stands_for[size_t(id)];
    if (ChangesNothing(graph, node)) stands_for[size_t(node.outputs[0])] = node.inputs[0];
    else kept.push_back(std::move(node));
  }
  const bool changed = kept.size() != graph.nodes.size();
  graph.nodes = std::move(kept);
  for (ValueId& id : graph.outputs)
    if (stands_for[size_t(id)] != id) Rename(graph, id, stands_for[size_t(id)]);
  return changed;
}

}  // namespace mete
