// The shape of mete.TreeEnsemble, which is TreeEnsemble of ai.onnx.ml without its function behind the sums,
// and the checks of its nodes and leaves.
#include <algorithm>

#include "graph/ops/tensor_rules.h"

namespace mete {
namespace {

constexpr uint8_t kMember = 6;  // the mode of a node that asks whether a feature is one of a set

const Tensor& TensorAttribute(const InferContext& c, const char* name, TypeSet types, int64_t elements) {
  const Tensor* t = c.attributes.TensorOf(name);
  if (!t || !(types & TypeBit(t->type())) || (elements >= 0 && t->elements() != elements))
    c.Bad("{}; got {}, expected {}", name,
          t ? fmt::format("{} {}", Name(t->type()), ToString(t->shape())) : "none",
          elements >= 0 ? fmt::format("{} numbers of its type", elements) : "a list of its type");
  return *t;
}

// Throws an Error unless each of a list of integers is at least 0 and below `end`.
const Ints& ListBelow(const InferContext& c, const char* name, size_t size, int64_t end) {
  const Ints& list = c.attributes.IntList(name);
  const auto outside = [&](int64_t i) { return i < 0 || i >= end; };
  if (list.size() != size) c.Bad("{}; got {} numbers, expected {}", name, list.size(), size);
  if (const auto at = std::find_if(list.begin(), list.end(), outside); at != list.end())
    c.Bad("{}; got {}, expected 0 to {}", name, *at, end - 1);
  return list;
}

// A branch leads to a leaf or to another node.
void CheckBranch(const InferContext& c, const char* leaf_name, const char* place_name, size_t nodes,
                 size_t leaves) {
  const Ints& is_leaf = ListBelow(c, leaf_name, nodes, 2);
  const Ints& places = ListBelow(c, place_name, nodes, INT64_MAX);
  for (size_t i = 0; i < nodes; ++i)
    if (const size_t end = is_leaf[i] ? leaves : nodes; size_t(places[i]) >= end)
      c.Bad("{}; got {}, expected 0 to {}", place_name, places[i], int64_t(end) - 1);
}

// The sets of the nodes with that mode follow each other, each with a NaN behind it.
void CheckSets(const InferContext& c, const Tensor& modes, TypeSet type) {
  const int64_t sets = std::count(modes.as<uint8_t>(), modes.as<uint8_t>() + modes.elements(), kMember);
  if (sets == 0) return;
  const Tensor& members = TensorAttribute(c, "membership_values", type, -1);
  const int64_t ends = VisitFloat(members.type(), [&]<class T>() {
    return std::count_if(members.as<T>(), members.as<T>() + members.elements(),
                         [](T x) { return std::isnan(float(x)); });
  });
  if (ends != sets) c.Bad("membership_values; got {} sets, expected {}", ends, sets);
}

}  // namespace

void InferTreeEnsemble(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  c.NeedRank(0, 2, 2);
  const TypeSet type = TypeBit(c.type(0));
  const Tensor& modes = TensorAttribute(c, "nodes_modes", TypeBit(DType::kU8), -1);
  const size_t nodes = size_t(modes.elements());
  if (const uint8_t* end = modes.as<uint8_t>() + nodes;
      std::any_of(modes.as<uint8_t>(), end, [](uint8_t mode) { return mode > kMember; }))
    c.Bad("nodes_modes; got a mode above {}, expected 0 to {}", kMember, kMember);
  TensorAttribute(c, "nodes_splits", type, int64_t(nodes));
  const size_t leaves = size_t(TensorAttribute(c, "leaf_weights", type, -1).elements());
  const int64_t targets = c.attributes.Int("n_targets", 1);
  if (targets < 1) c.Bad("n_targets; got {}, expected 1 or more", targets);
  ListBelow(c, "leaf_targetids", leaves, targets);
  ListBelow(c, "nodes_featureids", nodes, c.shape(0)[1]);
  CheckBranch(c, "nodes_trueleafs", "nodes_truenodeids", nodes, leaves);
  CheckBranch(c, "nodes_falseleafs", "nodes_falsenodeids", nodes, leaves);
  ListBelow(c, "tree_roots", c.attributes.IntList("tree_roots").size(), int64_t(nodes));
  if (c.attributes.Has("nodes_missing_value_tracks_true") &&
      !c.attributes.IntList("nodes_missing_value_tracks_true").empty())
    ListBelow(c, "nodes_missing_value_tracks_true", nodes, 2);
  if (const int64_t f = c.attributes.Int("aggregate_function", 1); f < 0 || f > 3)
    c.Bad("aggregate_function; got {}, expected 0 (average), 1 (sum), 2 (least) or 3 (most)", f);
  CheckSets(c, modes, type);
  c.Output(0, c.type(0), {c.shape(0)[0], targets});
}

}  // namespace mete
