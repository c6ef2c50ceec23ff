#include "import/onnx/microsoft_images.h"

#include <numeric>

#include "import/onnx/microsoft_build.h"
#include "import/onnx/microsoft_fused.h"

namespace mete::onnx_import {
namespace {

// Moves dimension `from` to place `to`.
Attributes Moved(int rank, int from, int to) {
  mete::Ints perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return With("perm", std::move(perm));
}

// The number of dimensions of an image, which is that of the weights.
int ImageRank(Upgrade& u, ValueId weights) {
  const int rank = RankOf(u, weights);
  if (rank >= 3) return rank;
  const size_t spatial = u.node.attributes.IntList("kernel_shape").size();
  return spatial == 0 || spatial > 5 ? 4 : int(spatial) + 2;
}

// Makes the node one over channels behind the batch, whose output is transposed behind it: `expand` has made
// it an operator of ONNX.
void Between(Upgrade& u, int rank, std::initializer_list<size_t> images, void (*expand)(Upgrade&)) {
  for (const size_t i : images)
    if (u.input(i) != kNoValue) u.SetInput(i, ChannelsFirst(u, u.input(i), rank));
  expand(u);
  const std::string name = u.names.Unique(u.node.name + "/" + u.node.op);
  const ValueId y = u.graph.AddValue(name);
  u.graph.AddNode(u.node.op, name, u.node.inputs, {y}, u.node.attributes);
  Become(u, "Transpose", {y}, Moved(rank, 1, rank - 1));
}

}  // namespace

ValueId ChannelsFirst(Upgrade& u, ValueId x, int rank) {
  return Into(u, kNoValue, "Transpose", {x}, Moved(rank, rank - 1, 1));
}

ValueId ChannelsLast(Upgrade& u, ValueId x, int rank) {
  return Into(u, kNoValue, "Transpose", {x}, Moved(rank, 1, rank - 1));
}

void ExpandNhwcConv(Upgrade& u) {
  Between(u, ImageRank(u, u.input(1)), {0}, [](Upgrade& v) { v.node.op = "Conv"; });
}

void ExpandNhwcFusedConv(Upgrade& u) { Between(u, ImageRank(u, u.input(1)), {0, 3}, ExpandFusedConv); }

void ExpandNhwcMaxPool(Upgrade& u) {
  Between(u, ImageRank(u, kNoValue), {0}, [](Upgrade& v) { v.node.op = "MaxPool"; });
}

void ExpandQLinearConv(Upgrade& u) {
  const bool last = u.node.attributes.Int("channels_last", 0) != 0;
  u.node.attributes.Erase("channels_last");
  if (last) Between(u, ImageRank(u, u.input(3)), {0}, [](Upgrade&) {});
}

namespace {

// Returns x * sigmoid(x) of the node's result, or the result.
void Activate(Upgrade& u, ValueId y, bool silu, bool channels_last) {
  if (silu && !channels_last) return Become(u, "Swish", {y});
  if (silu) y = Op(u, "Swish", {y});
  Become(u, "Transpose", {y}, Moved(4, 1, 3));
}

}  // namespace

// X, gamma, beta; of SkipGroupNorm also what is added to X (batch x 1 x 1 x channels or as X) and a bias, and
// their sum as an output.
void ExpandGroupNorm(Upgrade& u) {
  const Attributes given = u.node.attributes;
  const int64_t groups = Positive(u, "groups"), activation = given.Int("activation", 0);
  if (!HasOnly(u, {"activation", "channels_last", "epsilon", "groups"}) || groups == 0) return;
  if (activation != 0 && activation != 1)
    return u.Unsupported(fmt::format("its activation {} is unknown", activation));
  const bool last = given.Int("channels_last", 1) != 0;
  ValueId x = u.input(0);
  if (u.input(3) != kNoValue) {
    ValueId skip = u.input(3);
    if (!last) return u.Unsupported("a sum of images whose channels are not last is not supported");
    if (RankOf(u, skip) == 2) skip = Unsqueezed(u, skip, {1, 2});
    if (u.input(4) != kNoValue) x = Op(u, "Add", {x, u.input(4)});
    x = Into(u, u.node.output(1), "Add", {x, skip});
  }
  u.node.outputs.resize(1);
  Attributes attributes = With("num_groups", groups);
  attributes.Set("epsilon", given.Float("epsilon", 1e-5f));
  x = NeedRank(u, x, 4);
  if (last) x = ChannelsFirst(u, x, 4);
  if (!last && activation == 0)
    return Become(u, "GroupNormalization", {x, u.input(1), u.input(2)}, std::move(attributes));
  const ValueId y =
      Into(u, kNoValue, "GroupNormalization", {x, u.input(1), u.input(2)}, std::move(attributes));
  Activate(u, y, activation == 1, last);
}

// X, a bias, and what is added to their sum.
void ExpandBiasAdd(Upgrade& u) {
  const ValueId sum = Op(u, "Add", {u.input(0), u.input(1)});
  Become(u, "Add", {sum, u.input(2)});
}

// Half of the channels of X and the bias are factors of the Gelu of the other half.
void ExpandBiasSplitGelu(Upgrade& u) {
  const std::vector<ValueId> halves = Parts(u, Op(u, "Add", {u.input(0), u.input(1)}), -1, 2);
  Become(u, "Mul", {halves[0], Op(u, "Gelu", {halves[1]})});
}

}  // namespace mete::onnx_import
