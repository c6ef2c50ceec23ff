#include "import/onnx/microsoft_embedding.h"

#include "import/onnx/microsoft_build.h"
#include "import/onnx/shapes.h"

namespace mete::onnx_import {
namespace {

// The number of tokens of each row that are not masked, or 0 for each row where there is no mask.
void AddLengths(Upgrade& u, ValueId told, ValueId words, ValueId mask) {
  if (told == kNoValue) return;
  ValueId lengths = kNoValue;
  if (mask == kNoValue) {
    lengths = Op(u, "Expand", {ScalarConstant(u, 0), DimsOf(u, words, 0, 1)});
  } else {
    const ValueId ones = Op(u, "Equal", {CastTo(u, mask, "i64"), ScalarConstant(u, 1)});
    lengths = Op(u, "ReduceSum", {CastTo(u, ones, "i64"), Constant(u, {1})}, "keepdims", 0);
  }
  (void)Into(u, told, "Cast", {lengths}, With("to", std::string("i32")));
}

ValueId Floats(Upgrade&, ValueId rows, size_t) { return rows; }

// The rows of input `i` in floats; its scale is the sixth input behind it, its zero point the eleventh.
ValueId Dequantized(Upgrade& u, ValueId rows, size_t i) {
  return Op(u, "DequantizeLinear", {rows, u.input(i + 6), u.input(i + 11)});
}

// `floats` makes floats of rows of a table, or of gamma or beta.
void Embed(Upgrade& u, ValueId places, ValueId (*floats)(Upgrade&, ValueId, size_t)) {
  if (!HasOnly(u, {"epsilon", "mask_index_type"})) return;
  if ((u.input(1) == kNoValue) != (u.input(4) == kNoValue))
    return u.Bad("has segments or a table of them alone");
  for (const size_t i : {2, 3, 5, 6})
    if (u.input(i) == kNoValue) return u.Bad("input {} is left out", i);
  const ValueId words = NeedRank(u, u.input(0), 2);
  if (places == kNoValue) places = CountTo(u, DimOf(u, words, 1));
  const auto rows = [&](size_t table, ValueId indices) {
    return floats(u, Op(u, "Gather", {u.input(table), indices}), table);
  };
  ValueId sum = Op(u, "Add", {rows(2, words), rows(3, places)});
  if (u.input(1) != kNoValue) sum = Op(u, "Add", {sum, rows(4, u.input(1))});
  if (const ValueId told = u.node.output(2); told != kNoValue) sum = Into(u, told, "Identity", {sum});
  AddLengths(u, u.node.output(1), words, u.input(7));
  Attributes attributes = With("axis", int64_t{-1});
  attributes.Set("epsilon", u.node.attributes.Float("epsilon", 1e-12f));
  u.node.outputs.resize(1);
  const ValueId gamma = floats(u, u.input(5), 5), beta = floats(u, u.input(6), 6);
  Become(u, "LayerNormalization", {sum, gamma, beta}, std::move(attributes));
}

}  // namespace

// input_ids, segment_ids, three tables (of words, places, segments), gamma, beta, a mask and places.
void ExpandEmbedLayerNormalization(Upgrade& u) { Embed(u, u.input(8), Floats); }

// The same without places; behind the mask are the scales of the tables, gamma and beta, and their zero
// points.
void ExpandQEmbedLayerNormalization(Upgrade& u) { Embed(u, kNoValue, Dequantized); }

namespace {

// Returns the place of each token, as batch x length. `x` is batch x heads x length x size.
ValueId AllPlaces(Upgrade& u, ValueId x) {
  const ValueId places = u.input(1);
  const int rank = RankOf(u, places);
  if (rank != 0 && rank != 1) return NeedRank(u, places, 2);
  const ValueId counted = Op(u, "Add", {CountTo(u, DimOf(u, x, 2)), Reshaped(u, places, {1})});
  const ValueId table = Op(u, "Concat", {DimOf(u, x, 0), DimOf(u, x, 2)}, "axis", 0);
  return Op(u, "Expand", {counted, table});
}

}  // namespace

void ExpandRotaryEmbedding(Upgrade& u) {
  const Attributes given = u.node.attributes;
  bool good = HasOnly(u, {"interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"});
  good &= NeedDefaults(u, {{"is_packed_batching", 0}});
  if (given.Float("scale", 1) != 1) {
    u.Unsupported("a scale other than 1 is not supported");
    good = false;
  }
  if (!good) return;
  const int64_t heads = given.Int("num_heads", 0), rotated = given.Int("rotary_embedding_dim", 0);
  if (rotated > 0 && heads <= 0) return u.Bad("rotary_embedding_dim needs num_heads; got {}", heads);
  const bool in_rows = RankOf(u, u.input(0)) != 4;
  ValueId x = u.input(0);
  if (in_rows) {
    // Without a number of heads, a head has as many elements as both caches together.
    x = NeedRank(u, x, 3);
    ValueId shape = kNoValue;
    if (heads > 0) {
      shape = Constant(u, {0, 0, heads, -1});
    } else {
      const ValueId size = Op(u, "Mul", {DimOf(u, u.input(2), 1), ScalarConstant(u, 2)});
      shape = Op(u, "Concat", {Constant(u, {0, 0, -1}), size}, "axis", 0);
    }
    x = Permuted(u, Op(u, "Reshape", {x, shape}), {0, 2, 1, 3});
  }
  Attributes attributes = With("interleaved", given.Int("interleaved", 0));
  if (rotated > 0) attributes.Set("rotary_embedding_dim", rotated);
  const std::vector<ValueId> inputs{x, u.input(2), u.input(3), AllPlaces(u, x)};
  if (!in_rows) return Become(u, "RotaryEmbedding", inputs, std::move(attributes));
  if (u.shapes) u.shapes->Tell(u.graph, u.node.output(0), u.shapes->Of(u.graph, u.input(0)));
  x = Into(u, kNoValue, "RotaryEmbedding", {inputs[0], inputs[1], inputs[2], inputs[3]},
           std::move(attributes));
  Become(u, "Reshape", {Permuted(u, x, {0, 2, 1, 3}), Constant(u, {0, 0, -1})});
}

}  // namespace mete::onnx_import
