#include "dispatch/movement.h"

#include "dispatch/reason.h"

namespace mete {
namespace {

// Returns whether the first input has elements to move.
bool Moves(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  return shape.known() && shape.Elements() > 0;
}

}  // namespace

std::optional<Transposition> TranspositionOf(const Graph& graph, const Node& node, std::string* why) {
  if (!Moves(graph, node)) return No("nothing to move", why);
  const Value& x = graph.value(node.inputs[0]);
  Transposition t{TransposeWay::kMatrices, JoinedPermutation(x.shape, node.attributes.IntList("perm")),
                  SizeOf(x.type)};
  if ((t.element_bytes == 4 || t.element_bytes == 1) && t.permutation.TransposesMatrices()) return t;
  if (!t.permutation.KeepsRows() || t.permutation.dims.size() > 4)
    return No("an order of dimensions without a fast form", why);
  t.way = TransposeWay::kRows;
  return t;
}

std::optional<Join> JoinOf(const Graph& graph, const Node& node, std::string* why) {
  if (!Moves(graph, node)) return No("nothing to move", why);
  const bool split = node.op == "Split";
  const std::vector<ValueId>& parts = split ? node.outputs : node.inputs;
  const Value& whole = graph.value(split ? node.inputs[0] : node.outputs[0]);
  const int64_t given = node.attributes.Int("axis", 0);
  const int axis = int(given < 0 ? given + whole.shape.rank() : given);
  Join join{split, whole.shape.Elements(0, axis), {}};
  for (ValueId id : parts) {
    if (id == kNoValue) return No("a part is omitted", why);
    join.runs.push_back(size_t(graph.value(id).shape.Elements(axis, whole.shape.rank())) *
                        SizeOf(whole.type));
  }
  return join;
}

}  // namespace mete
