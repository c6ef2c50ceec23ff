#include "dispatch/choices.h"

#include "dispatch/reason.h"

namespace mete {

std::optional<TopChoice> TopChoiceOf(const Graph& graph, const Node& node, std::string* why) {
  if (!IsF32(graph, node.inputs[0])) return No("not f32", why);
  const ValueId any = node.outputs[0] != kNoValue ? node.outputs[0] : node.output(1);
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (any == kNoValue || !graph.value(any).shape.known())
    return No("the number of elements is computed", why);
  const Shape& y = graph.value(any).shape;
  if (y.Elements() == 0) return No("nothing to choose", why);
  const int64_t given = node.attributes.Int("axis", -1);
  const int axis = int(given < 0 ? given + x.rank() : given);
  if (x[axis] > TopShape::kMostLength) return No("the axis is too long", why);
  return TopChoice{{.outer = x.Elements(0, axis),
                    .length = x[axis],
                    .inner = x.Elements(axis + 1, x.rank()),
                    .k = y[axis],
                    .largest = node.attributes.Int("largest", 1) != 0}};
}

std::optional<BestChoice> BestChoiceOf(const Graph& graph, const Node& node, std::string* why) {
  if (!IsF32(graph, node.inputs[0])) return No("not f32", why);
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (x.Elements() == 0) return No("nothing to choose", why);
  BestShape s{.largest = node.op == "ArgMax", .last = node.attributes.Int("select_last_index", 0) != 0};
  if (x.rank() > 0) {
    const int64_t given = node.attributes.Int("axis", 0);
    const int axis = int(given < 0 ? given + x.rank() : given);
    s.outer = x.Elements(0, axis);
    s.length = x[axis];
    s.inner = x.Elements(axis + 1, x.rank());
  }
  if (s.length > BestShape::kMostLength) return No("the axis is too long", why);
  return BestChoice{s};
}

}  // namespace mete
