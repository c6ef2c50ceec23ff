#include "processor/opencl/kernels/attention.h"

#include <cmath>

#include "base/heads.h"
#include "processor/opencl/share/families.h"
#include "processor/opencl/share/implicit_product.h"
#include "processor/opencl/share/rows.h"

namespace mete::opencl {
namespace {

// Queries, keys or values with the heads first, as 4-D inputs have them.
Array HeadsFirst(Lowering& to, const Array& array, const Heads& heads) {
  if (array.shape.rank() == 4) return array;
  return to.Transposed({array.buffer, array.type, {heads.batch, heads.length, heads.heads, heads.size}},
                       {0, 2, 1, 3});
}

// Returns the past and the new keys (or values) as batch x heads x total x size.
Array Joined(Lowering& to, const Array& past, const Array& fresh, const Array& joined) {
  const Shape& whole = joined.shape;
  int64_t begin = 0;
  for (const Array& part : {past, fresh}) {
    if (part.elements() > 0)
      to.Move(part, joined,
              {.sizes = {part.shape.begin(), part.shape.end()},
               .inputs = {{.strides = DenseStrides(part.shape)}},
               .output = {.strides = DenseStrides(whole), .first = begin * whole[3]},
               .program = {}});
    begin += part.shape[2];
  }
  return joined;
}

struct Parts {
  Array queries, keys, values, output;
  bool heads_first = false;
};

// Returns the arrays in one order of heads and rows. Keys and values of the past have the heads first.
Parts PartsOf(Lowering& to, const Node& node, const Heads& q, const Heads& k, const Heads& v) {
  Parts p{to.Of(node.inputs[0]), to.Of(node.inputs[1]), to.Of(node.inputs[2]), to.Of(node.outputs[0])};
  const bool past = node.input(4) != kNoValue,
             present = node.output(1) != kNoValue || node.output(2) != kNoValue;
  p.heads_first = p.queries.shape.rank() == 4 || past || present;
  if (!p.heads_first) return p;
  p.queries = HeadsFirst(to, p.queries, q);
  p.keys = HeadsFirst(to, p.keys, k);
  p.values = HeadsFirst(to, p.values, v);
  if (!past && !present) return p;
  const auto all = [&](const Array& fresh, size_t input, size_t output) {
    Shape shape = fresh.shape;
    const Array before = past ? to.Of(node.inputs[input]) : Array{};
    if (past) shape[2] += before.shape[2];
    const Array joined =
        node.output(output) != kNoValue ? to.Of(node.outputs[output]) : to.Temporary(to.storage(), shape);
    return Joined(
        to,
        past ? before : Array{fresh.buffer, fresh.type, {fresh.shape[0], fresh.shape[1], 0, fresh.shape[3]}},
        fresh, joined);
  };
  p.keys = all(p.keys, 4, 1);
  p.values = all(p.values, 5, 2);
  return p;
}

ScoreRows ScoresOf(Lowering& to, const Node& node, ScoreRows scores, int64_t past) {
  const Attributes& a = node.attributes;
  scores.softcap = a.Float("softcap", 0);
  scores.past = past;
  scores.causal = a.Int("is_causal", 0) != 0;
  scores.left = a.Int("left_window_size", -1);
  scores.right = a.Int("right_window_size", -1);
  if (node.input(3) == kNoValue) return scores;
  const Array mask = to.Of(node.inputs[3]);
  scores.mask = true;
  scores.mask_type = mask.type;
  scores.mask_length = mask.shape.back();
  const std::vector<int64_t> strides = DenseStrides(mask.shape);
  for (int i = 0; i + 1 < mask.shape.rank(); ++i)
    if (mask.shape[i] != 1) scores.mask_strides[size_t(i + 4 - mask.shape.rank())] = strides[size_t(i)];
  return scores;
}

std::string WhyNot(const Lowering& to, const Node& node) {
  if (!AreF32(to.graph(), node, {0, 1, 2})) return "not f32";
  if (node.output(3) != kNoValue) return "the scores are wanted";
  if (node.input(6) != kNoValue) return "the lengths of the keys are data";
  return "";
}

}  // namespace

std::string LowerAttention(Lowering& to, const Node& node) {
  if (std::string why = WhyNot(to, node); !why.empty()) return why;
  const auto heads = [&](size_t i, const char* count) {
    return Heads(to.value(node.inputs[i]).shape, node.attributes.Int(count, 1));
  };
  const Heads q = heads(0, "q_num_heads"), k = heads(1, "kv_num_heads"), v = heads(2, "kv_num_heads");
  const Parts p = PartsOf(to, node, q, k, v);
  const int64_t past = node.input(4) == kNoValue ? 0 : to.value(node.inputs[4]).shape[2];
  const AttentionSpec a{.batch = q.batch,
                        .heads = q.heads,
                        .kv_heads = k.heads,
                        .queries = q.length,
                        .keys = past + k.length,
                        .size = q.size,
                        .value_size = v.size,
                        .heads_first = p.heads_first,
                        .scale = node.attributes.Has("scale") ? node.attributes.Float("scale", 0)
                                                              : 1 / std::sqrt(float(q.size))};
  const Array scores = to.Temporary(DType::kF32, {a.batch * a.heads * a.queries, a.keys});
  LowerImplicitProduct(to, AttentionScores(a), AttentionKeys(a), {p.queries, p.keys, scores, {}, {}});
  RowSpec rows = AttentionRows(a);
  rows.scores = ScoresOf(to, node, *rows.scores, past);
  std::vector<Array> arguments{scores};
  if (rows.scores->mask) arguments.push_back(to.Of(node.inputs[3]));
  arguments.push_back(scores);
  LaunchRows(to, rows, arguments);
  const bool turned = p.heads_first && p.output.shape.rank() == 3;
  const Array sums =
      turned ? to.Temporary(to.storage(), {a.batch, a.heads, a.queries, a.value_size}) : p.output;
  LowerImplicitProduct(to, AttentionSums(a), AttentionValues(a), {scores, p.values, sums, {}, {}});
  if (!turned) return "";
  to.Move(sums, p.output,
          {.sizes = {a.batch, a.queries, a.heads, a.value_size},
           .inputs = {{.strides = {a.heads * a.queries * a.value_size, a.value_size, a.queries * a.value_size,
                                   1}}},
           .output = {.strides = DenseStrides({a.batch, a.queries, a.heads, a.value_size})},
           .program = {}});
  return "";
}

}  // namespace mete::opencl
