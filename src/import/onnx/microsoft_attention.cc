#include "import/onnx/microsoft_attention.h"

#include "import/onnx/microsoft_attended.h"
#include "import/onnx/microsoft_build.h"
#include "import/onnx/shapes.h"

namespace mete::onnx_import {
namespace {

// Returns input `i` as a bias of scores, if there is one.
void AddBiases(Upgrade& u, Attended& a, size_t mask, size_t bias, ValueId fresh) {
  if (u.input(mask) != kNoValue)
    a.biases.push_back(
        PaddingBias(u, u.input(mask), a, u.node.attributes.Float("mask_filter_value", -10000)));
  if (u.node.attributes.Int("unidirectional", 0) != 0) a.biases.push_back(CausalBias(u, a, fresh));
  if (u.input(bias) != kNoValue) a.biases.push_back(u.input(bias));
}

// Says which shape the output has, since shape arithmetic is not folded yet: later nodes may ask for its
// rank. `query` and `value` are 3-D.
void TellShape(Upgrade& u, ValueId query, ValueId value) {
  if (!u.shapes) return;
  Shape shape = u.shapes->Of(u.graph, query);
  const Shape features = u.shapes->Of(u.graph, value);
  if (shape.rank() != 3 || features.rank() != 3) return;
  shape[2] = features[2];
  u.shapes->Tell(u.graph, u.node.output(0), shape);
}

// Returns the sizes of the three parts of attribute `qkv_hidden_sizes`; kNoValue: they are equal.
ValueId HiddenSizes(Upgrade& u, ValueId weights) {
  const mete::Ints& sizes = u.node.attributes.IntList("qkv_hidden_sizes");
  if (sizes.size() == 3) return Constant(u, {sizes[0], sizes[1], sizes[2]});
  if (!sizes.empty()) u.Bad("qkv_hidden_sizes; got {} numbers, expected 3", sizes.size());
  const Shape shape = u.shapes ? u.shapes->Of(u.graph, weights) : Shape::Unknown();
  if (shape.rank() == 2 && shape[1] % 3 != 0)
    u.Bad("the weights have {} columns; expected as many for queries, keys and values", shape[1]);
  return kNoValue;
}

// Joins the past keys and values (2 x batch x heads x length x size) and those of `a`.
void JoinPast(Upgrade& u, Attended& a, ValueId past) {
  if (past == kNoValue) return;
  a.k = Op(u, "Concat", {Op(u, "Gather", {past, ScalarConstant(u, 0)}), a.k}, "axis", 2);
  a.v = Op(u, "Concat", {Op(u, "Gather", {past, ScalarConstant(u, 1)}), a.v}, "axis", 2);
}

// Where Attention and QAttention have their inputs.
struct Places {
  size_t mask, past, bias;
};

// Makes the node the attention of `rows`, which have queries, keys and values side by side.
void Attend(Upgrade& u, ValueId rows, int64_t heads, const Places& at) {
  const std::vector<ValueId> parts = Parts(u, rows, 2, 3, HiddenSizes(u, u.input(1)));
  const auto part = [&](size_t i) { return SplitHeads(u, parts[i], heads); };
  Attended a{.q = part(0), .k = part(1), .v = part(2), .heads = heads, .kv_heads = heads};
  a.scale = u.node.attributes.Float("scale", 0);
  const ValueId fresh = a.k;
  JoinPast(u, a, u.input(at.past));
  AddBiases(u, a, at.mask, at.bias, fresh);
  TellShape(u, parts[0], parts[2]);
  if (const ValueId present = u.node.output(1); present != kNoValue)
    (void)Into(u, present, "Concat", {Unsqueezed(u, a.k, {0}), Unsqueezed(u, a.v, {0})},
               With("axis", int64_t{0}));
  u.node.outputs.resize(1);
  BecomeAttended(u, a);
}

// Returns the number of heads; 0 if the node is refused.
int64_t CheckedHeads(Upgrade& u) {
  const int64_t heads = Positive(u, "num_heads");
  const bool known = HasOnly(u, {"do_rotary", "mask_filter_value", "num_heads", "past_present_share_buffer",
                                 "qkv_hidden_sizes", "rotary_embedding_dim", "scale", "unidirectional"});
  return NeedDefaults(u, {{"do_rotary", 0}, {"past_present_share_buffer", 0}}) && known ? heads : 0;
}

constexpr size_t kAbsent = 100;  // an input that an operator lacks

}  // namespace

// The input, the weights and the bias of the projection, a mask, the past, a bias of scores, a length.
void ExpandAttention(Upgrade& u) {
  const int64_t heads = CheckedHeads(u);
  if (heads == 0) return;
  if (u.input(6) != kNoValue) return u.Unsupported("past_sequence_length is not supported");
  ValueId rows = Op(u, "MatMul", {u.input(0), u.input(1)});
  if (u.input(2) != kNoValue) rows = Op(u, "Add", {rows, u.input(2)});
  Attend(u, rows, heads, {.mask = 3, .past = 4, .bias = 5});
}

// The input, the weights and the bias, both scales, a mask, both zero points, the past.
void ExpandQAttention(Upgrade& u) {
  const int64_t heads = CheckedHeads(u);
  if (heads == 0) return;
  const ValueId sums = Op(u, "MatMulInteger", {u.input(0), u.input(1), u.input(6), u.input(7)});
  const ValueId scale = Op(u, "Mul", {u.input(3), u.input(4)});
  const ValueId floats = Op(u, "Mul", {CastTo(u, sums, "f32"), scale});
  Attend(u, Op(u, "Add", {floats, u.input(2)}), heads, {.mask = 5, .past = 8, .bias = kAbsent});
}

namespace {

// Divides the bias of queries, keys and values (inputs 0 to 2) into three.
std::vector<ValueId> BiasParts(Upgrade& u, const std::vector<ValueId>& rows) {
  if (u.input(3) == kNoValue) return {kNoValue, kNoValue, kNoValue};
  const ValueId sizes =
      Op(u, "Concat", {DimOf(u, rows[0], 2), DimOf(u, rows[1], 2), DimOf(u, rows[2], 2)}, "axis", 0);
  return Parts(u, u.input(3), 0, 3, sizes);
}

// Returns queries, keys and values as batch x length x (heads * size), or with 4 dimensions those that are
// given as batch x heads x length x size.
std::vector<ValueId> Rows(Upgrade& u) {
  // batch x length x heads x `count` x size
  const auto unpacked = [&](ValueId packed, int64_t count) {
    packed = NeedRank(u, packed, 5);
    std::vector<ValueId> parts;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(Reshaped(u, Op(u, "Gather", {packed, ScalarConstant(u, i)}, "axis", 3), {0, 0, -1}));
    return parts;
  };
  if (u.input(1) == kNoValue) return unpacked(u.input(0), 3);
  std::vector<ValueId> rows{NeedRank(u, u.input(0), 3)};
  if (u.input(2) == kNoValue) {
    for (const ValueId part : unpacked(u.input(1), 2)) rows.push_back(part);
    return rows;
  }
  const int rank = RankOf(u, u.input(1)) == 4 ? 4 : 3;
  for (const size_t i : {1, 2}) rows.push_back(NeedRank(u, u.input(i), rank));
  return rows;
}

// Joins what is cached before new keys or values, and writes the output if it is asked for.
ValueId Joined(Upgrade& u, ValueId past, ValueId fresh, ValueId present) {
  if (past != kNoValue) return Into(u, present, "Concat", {past, fresh}, With("axis", int64_t{2}));
  return present == kNoValue ? fresh : Into(u, present, "Identity", {fresh});
}

}  // namespace

void ExpandMultiHeadAttention(Upgrade& u) {
  const int64_t heads = Positive(u, "num_heads");
  if (!HasOnly(u, {"mask_filter_value", "num_heads", "scale", "unidirectional"}) || heads == 0) return;
  if (u.input(8) != kNoValue || u.input(9) != kNoValue)
    return u.Unsupported("past_sequence_length and cache_indirection are not supported");
  if (u.node.output(3) != kNoValue) return u.Unsupported("its output of scores is not supported");
  if (u.input(1) == kNoValue && u.input(2) != kNoValue) return u.Bad("has a value, but no key");
  const std::vector<ValueId> rows = Rows(u);
  const bool whole = RankOf(u, u.input(1)) == 4;
  if (whole && u.input(3) != kNoValue)
    return u.Unsupported("a bias beside keys of four dimensions is not supported");
  const std::vector<ValueId> biases = whole ? std::vector<ValueId>(3, kNoValue) : BiasParts(u, rows);
  const auto part = [&](size_t i) {
    if (whole && i > 0) return rows[i];
    return SplitHeads(u, biases[i] == kNoValue ? rows[i] : Op(u, "Add", {rows[i], biases[i]}), heads);
  };
  Attended a{.q = part(0), .k = part(1), .v = part(2), .heads = heads, .kv_heads = heads};
  a.scale = u.node.attributes.Float("scale", 0);
  const ValueId fresh = a.k;
  a.k = Joined(u, u.input(6), a.k, u.node.output(1));
  a.v = Joined(u, u.input(7), a.v, u.node.output(2));
  AddBiases(u, a, 4, 5, fresh);
  TellShape(u, rows[0], whole ? rows[0] : rows[2]);
  u.node.outputs.resize(1);
  BecomeAttended(u, a);
}

}  // namespace mete::onnx_import
