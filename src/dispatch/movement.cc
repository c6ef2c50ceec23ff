#include "dispatch/movement.h"

#include "base/window.h"
#include "dispatch/reason.h"

namespace mete {
namespace {

// Returns whether the first input has elements to move.
bool Moves(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  return shape.known() && shape.Elements() > 0;
}

// Returns DepthToSpace or SpaceToDepth over NHWC as a Transpose: the rows of blocks and the columns of the
// small image change places.
Permutation OfBlocks(const Shape& in, int64_t side, bool to_space) {
  const Shape& s = in;
  const Shape split = to_space ? Shape{s[0] * s[1], s[2], side, s[3] / side}
                               : Shape{s[0] * s[1] / side, side, s[2] / side, side * s[3]};
  return JoinedPermutation(split, {0, 2, 1, 3});
}

}  // namespace

std::optional<Transposition> TranspositionOf(const Graph& graph, const Node& node, std::string* why) {
  if (!Moves(graph, node)) return No("nothing to move", why);
  const Value& x = graph.value(node.inputs[0]);
  Transposition t{TransposeWay::kMatrices, {}, SizeOf(x.type)};
  if (node.op == "Transpose") {
    t.permutation = JoinedPermutation(x.shape, node.attributes.IntList("perm"));
  } else {
    if (!IsNhwc(node.attributes) || node.attributes.String("mode", "DCR") != "DCR")
      return No("channels are not last, or not whole in a place", why);
    t.permutation = OfBlocks(x.shape, node.attributes.Int("blocksize", 1), node.op == "DepthToSpace");
  }
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
