#include "dispatch/elementwise.h"

#include <vector>

#include "dispatch/reason.h"

namespace mete {

std::optional<Elementwise> ElementwiseOf(const Graph& graph, const Node& node, std::string* why) {
  const Shape& out = graph.value(node.outputs[0]).shape;
  if (out.Elements() == 0) return No("nothing to compute", why);
  Elementwise result;
  result.elements = out.Elements();
  std::vector<BroadcastInput> inputs;
  for (ValueId id : node.inputs) inputs.push_back(BroadcastOf(graph.value(id).shape, out));
  FusedProgram program;
  if (!ParseFusedProgram(node.attributes, int(node.inputs.size()), program).empty())
    return No("not a program", why);
  if (!PlanElementwise(program, inputs, &result.plan)) return No("needs too many values at once", why);
  return result;
}

std::optional<Selection> SelectionOf(const Graph& graph, const Node& node, std::string* why) {
  if (!IsF32(graph, node.outputs[0])) return No("not f32", why);
  const Shape& out = graph.value(node.outputs[0]).shape;
  if (!out.known() || out.Elements() == 0) return No("of unknown shape, or empty", why);
  const auto input = [&](size_t i) { return BroadcastOf(graph.value(node.inputs[i]).shape, out); };
  return Selection{{input(0), input(1), input(2)}, out.Elements()};
}

}  // namespace mete
