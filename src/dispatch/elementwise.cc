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

std::string Comparison::kernel() const {
  return plan.type == DType::kF32 ? "compare_f32" : plan.type == DType::kI64 ? "compare_i64" : "compare_bool";
}

std::optional<Comparison> ComparisonOf(const Graph& graph, const Node& node, std::string* why) {
  const DType type = graph.value(node.inputs[0]).type;
  const bool logic = node.op == "And" || node.op == "Or";
  if (!logic && type != DType::kF32 && type != DType::kI64) return No("neither f32 nor i64", why);
  const Shape& out = graph.value(node.outputs[0]).shape;
  if (!out.known() || out.Elements() == 0) return No("of unknown shape, or empty", why);
  Comparison result;
  result.swapped = node.op.starts_with("Greater");
  result.elements = out.Elements();
  const auto input = [&](size_t i) {
    return BroadcastOf(graph.value(node.inputs[result.swapped ? 1 - i : i]).shape, out);
  };
  const CompareOp op = node.op == "And"               ? CompareOp::kAnd
                       : node.op == "Or"              ? CompareOp::kOr
                       : node.op == "Equal"           ? CompareOp::kEqual
                       : node.op.ends_with("OrEqual") ? CompareOp::kLessOrEqual
                                                      : CompareOp::kLess;
  result.plan = {op, type, input(0), input(1)};
  return result;
}

}  // namespace mete
