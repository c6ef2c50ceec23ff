#include "import/onnx/microsoft_attended.h"

#include "import/onnx/microsoft_build.h"
#include "import/onnx/shapes.h"

namespace mete::onnx_import {

namespace {

ValueId Scale(Upgrade& u, const Attended& a) {
  if (a.scale != 0) return u.Scalar("scale", a.scale, a.q);
  const ValueId size = CastTo(u, DimOf(u, a.q, 3), "f32");
  const ValueId scale = Op(u, "Reciprocal", {Op(u, "Sqrt", {size})});
  return u.mixed_floats ? Op(u, "CastLike", {scale, a.q}) : scale;
}

ValueId Capped(Upgrade& u, ValueId scores, float softcap) {
  const ValueId inner = Op(u, "Div", {scores, u.Scalar("softcap", softcap, scores)});
  return Op(u, "Mul", {Op(u, "Tanh", {inner}), u.Scalar("softcap", softcap, scores)});
}

// Returns the scores with one more column.
ValueId WithSink(Upgrade& u, ValueId scores, ValueId sink) {
  const ValueId column = Op(u, "Concat", {DimsOf(u, scores, 0, 3), Constant(u, {1})}, "axis", 0);
  return Op(u, "Concat", {scores, Op(u, "Expand", {Reshaped(u, sink, {1, -1, 1, 1}), column})}, "axis", 3);
}

}  // namespace

void BecomeAttended(Upgrade& u, const Attended& a) {
  // The heads of queries that share keys are rows of one product: their order in memory is the same.
  const bool grouped = a.heads != a.kv_heads;
  const auto heads = [&](ValueId x, int64_t count) {
    return grouped ? Reshaped(u, x, {0, count, -1, 0}) : x;
  };
  const ValueId queries = heads(a.q, a.kv_heads), keys = Permuted(u, a.k, {0, 1, 3, 2});
  ValueId scores = Op(u, "Mul", {Op(u, "MatMul", {queries, keys}), Scale(u, a)});
  if (a.softcap > 0) scores = Capped(u, scores, a.softcap);
  scores = heads(scores, a.heads);
  // The sum of biases has fewer elements than the scores where they are the same for all heads.
  ValueId bias = a.biases.empty() ? kNoValue : a.biases[0];
  for (size_t i = 1; i < a.biases.size(); ++i) bias = Op(u, "Add", {bias, a.biases[i]});
  if (bias != kNoValue) scores = Op(u, "Add", {scores, bias});
  if (a.sink != kNoValue) scores = WithSink(u, scores, a.sink);
  ValueId weights = Op(u, "Softmax", {scores}, "axis", -1);
  if (a.sink != kNoValue) weights = Sliced(u, weights, 3, 0, -1);
  const ValueId sums = heads(Op(u, "MatMul", {heads(weights, a.kv_heads), a.v}), a.heads);
  const ValueId rows = Permuted(u, sums, {0, 2, 1, 3});
  Become(u, "Reshape", {rows, Constant(u, {0, 0, -1})});
}

ValueId SplitHeads(Upgrade& u, ValueId x, int64_t heads) {
  return Permuted(u, Reshaped(u, x, {0, 0, heads, -1}), {0, 2, 1, 3});
}

ValueId BiasWhere(Upgrade& u, ValueId visible, float hidden, ValueId like) {
  return Op(u, "Where", {visible, u.Scalar("seen", 0, like), u.Scalar("hidden", hidden, like)});
}

namespace {

// Returns for each row the end of its valid keys, and their beginning if the mask has it (2 * batch), which
// its size tells beside that of the batch. Of 3 * batch + 2 numbers only the first are for keys.
std::vector<ValueId> Bounds(Upgrade& u, ValueId mask, int64_t sizes, ValueId q) {
  const Shape batch = u.shapes->Of(u.graph, q);
  if (batch.rank() < 1 || sizes == batch[0]) return {mask};
  if (sizes == 2 * batch[0]) return Parts(u, mask, 0, 2);
  return {Op(u, "Slice", {mask, Constant(u, {0}), DimOf(u, q, 0)})};
}

}  // namespace

ValueId PaddingBias(Upgrade& u, ValueId mask, const Attended& a, float hidden) {
  const int rank = RankOf(u, mask);
  const int64_t sizes = rank == 1 ? u.shapes->Of(u.graph, mask)[0] : 0;
  mask = CastTo(u, mask, "i64");
  if (rank == 1) {
    const std::vector<ValueId> bounds = Bounds(u, mask, sizes, a.q);
    const ValueId keys = CountTo(u, DimOf(u, a.k, 2));
    const auto column = [&](size_t i) { return Reshaped(u, bounds[i], {-1, 1, 1, 1}); };
    ValueId visible = Op(u, "Less", {keys, column(0)});
    if (bounds.size() > 1) visible = Op(u, "And", {visible, Op(u, "GreaterOrEqual", {keys, column(1)})});
    return BiasWhere(u, visible, hidden, a.q);
  }
  if (rank > 3) {
    u.Unsupported("a mask with four dimensions is not supported");
    return a.q;
  }
  mask = rank == 3 ? Unsqueezed(u, mask, {1}) : Unsqueezed(u, NeedRank(u, mask, 2), {1, 2});
  return BiasWhere(u, Op(u, "Greater", {mask, ScalarConstant(u, 0)}), hidden, a.q);
}

ValueId CausalBias(Upgrade& u, const Attended& a, ValueId fresh) {
  const ValueId total = DimOf(u, a.k, 2);
  const ValueId past = Op(u, "Sub", {total, DimOf(u, fresh, 2)});
  const ValueId places = Op(u, "Add", {CountTo(u, DimOf(u, a.q, 2)), past});
  const ValueId visible = Op(u, "LessOrEqual", {CountTo(u, total), Reshaped(u, places, {-1, 1})});
  return BiasWhere(u, visible, kHidden, a.q);
}

}  // namespace mete::onnx_import
