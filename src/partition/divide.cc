#include "partition/divide.h"

#include <algorithm>

#include "partition/rules.h"

namespace mete {
namespace {

// An element-wise operator: every input is broadcast to the output.
std::optional<Division> Elementwise(const DivideContext& c) {
  Division d = c.Whole();
  for (int i = 0; i < c.inputs(); ++i)
    if (c.has(i) && !c.Broadcast(d, i)) return std::nullopt;
  return d;
}

// An operator that is element-wise in its first input; the others are scalars, or give only a type.
std::optional<Division> FirstElementwise(const DivideContext& c) {
  Division d = c.Whole();
  if (!c.Broadcast(d, 0)) return std::nullopt;
  return d;
}

DivideFn FindRule(const std::string& op) {
  for (const auto rules : {WindowRules(), MatrixRules(), AlongRules(), ArrangeRules()})
    for (const DivideRule& rule : rules)
      if (op == rule.op) return rule.divide;
  if (KindOf(op) == OpKind::kElementwiseFirst) return FirstElementwise;
  return IsElementwiseOperator(op) ? Elementwise : nullptr;
}

// Returns true if every shape is known, all outputs have the same number of rows, and the requested rows lie
// within it.
bool CanAsk(const Graph& graph, const Node& node, const Part& part) {
  for (ValueId id : node.inputs)
    if (id != kNoValue && !graph.value(id).shape.known()) return false;
  int64_t extent = -1;
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const Shape& shape = graph.value(id).shape;
    if (!shape.known() || part.axis >= shape.rank() || (extent >= 0 && shape[part.axis] != extent))
      return false;
    extent = shape[part.axis];
  }
  return part.rows.begin >= 0 && part.rows.begin < part.rows.end && part.rows.end <= extent;
}

}  // namespace

ValueId DivideContext::FirstOutput() const {
  return *std::find_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id != kNoValue; });
}

bool DivideContext::Broadcast(Division& d, int i) const {
  const int at = axis - (output().rank() - shape(i).rank());
  if (at < 0 || shape(i)[at] == 1) return true;
  if (shape(i)[at] != output()[axis]) return false;
  SameRows(d, i, at);
  return true;
}

std::optional<Division> Divide(const Graph& graph, const Node& node, const Part& part) {
  const DivideFn rule = FindRule(node.op);
  if (!rule || part.all() || !CanAsk(graph, node, part)) return std::nullopt;
  return rule(DivideContext(graph, node, part));
}

}  // namespace mete
