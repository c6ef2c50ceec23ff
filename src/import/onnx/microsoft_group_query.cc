// GroupQueryAttention of com.microsoft, as decoders with a buffer for keys and values have it. All shapes
// follow from shape arithmetic: the buffer's length is that of its input, or of all tokens if that is more.
#include "import/onnx/microsoft_attended.h"
#include "import/onnx/microsoft_attention.h"
#include "import/onnx/microsoft_build.h"
#include "import/onnx/shapes.h"

namespace mete::onnx_import {
namespace {

bool IsSupported(Upgrade& u) {
  const Attributes& given = u.node.attributes;
  bool good =
      HasOnly(u, {"causal", "do_rotary", "k_quant_type", "kv_cache_bit_width", "kv_num_heads",
                  "local_window_size", "num_heads", "qk_norm_epsilon", "qk_output", "rotary_interleaved",
                  "scale", "sliding_window_cache", "smooth_softmax", "softcap", "v_quant_type"});
  good &= NeedDefaults(u, {{"qk_output", 0}, {"sliding_window_cache", 0}});
  const auto refuse = [&](bool there, const char* reason) {
    if (there) u.Unsupported(reason);
    good &= !there;
  };
  refuse(given.String("k_quant_type", "NONE") != "NONE" || given.String("v_quant_type", "NONE") != "NONE" ||
             u.input(12) != kNoValue || u.input(13) != kNoValue,
         "a cache in fewer bits is not supported");
  refuse(u.node.output(3) != kNoValue, "its output of scores is not supported");
  refuse((u.input(3) == kNoValue) != (u.input(4) == kNoValue), "it has a past key or a past value alone");
  refuse((u.input(1) == kNoValue) != (u.input(2) == kNoValue), "it has a key or a value alone");
  refuse((u.input(14) == kNoValue) != (u.input(15) == kNoValue), "it normalizes queries or keys alone");
  refuse(given.Int("do_rotary", 0) != 0 && (u.input(7) == kNoValue || u.input(8) == kNoValue),
         "do_rotary needs both caches of cosines and sines");
  return good;
}

// Where the tokens of this run are, row by row of the batch.
struct Places {
  ValueId total;    // all tokens of the longest row, one element
  ValueId length;   // new tokens, one element
  ValueId lengths;  // tokens of each row with those of the past
  ValueId begins;   // tokens of the past of each row
};

// A run whose tokens are all new is a prompt: rows are as long as the longest, and shorter ones have padding
// behind them.
Places FindPlaces(Upgrade& u) {
  Places p;
  p.length = DimOf(u, u.input(0), 1);
  p.total = Reshaped(u, CastTo(u, u.input(6), "i64"), {1});
  const ValueId lasts = Reshaped(u, CastTo(u, u.input(5), "i64"), {-1});
  const ValueId lengths = Op(u, "Add", {lasts, ScalarConstant(u, 1)});
  p.lengths = Op(u, "Where", {Op(u, "Equal", {p.total, p.length}), p.length, lengths});
  p.begins = Op(u, "Sub", {p.lengths, p.length});
  return p;
}

// batch x 1 x length x 1
ValueId QueryPlaces(Upgrade& u, const Places& p) {
  const ValueId within = Reshaped(u, CountTo(u, p.length), {-1, 1});
  return Op(u, "Add", {Reshaped(u, p.begins, {-1, 1, 1, 1}), within});
}

// Returns queries or keys turned by their places.
ValueId Rotated(Upgrade& u, ValueId x, const Places& p) {
  ValueId places = u.input(9);
  if (places == kNoValue) places = Op(u, "Add", {Reshaped(u, p.begins, {-1, 1}), CountTo(u, p.length)});
  Attributes attributes = With("interleaved", u.node.attributes.Int("rotary_interleaved", 0));
  const Shape cosines = u.shapes ? u.shapes->Of(u.graph, u.input(7)) : Shape::Unknown();
  if (cosines.rank() == 2) attributes.Set("rotary_embedding_dim", 2 * cosines[1]);
  return Into(u, kNoValue, "RotaryEmbedding", {x, u.input(7), u.input(8), places}, std::move(attributes));
}

ValueId Normalized(Upgrade& u, ValueId x, ValueId weights) {
  if (weights == kNoValue) return x;
  Attributes attributes = With("axis", int64_t{-1});
  attributes.Set("epsilon", u.node.attributes.Float("qk_norm_epsilon", 1e-6f));
  return Into(u, kNoValue, "RMSNormalization", {x, weights}, std::move(attributes));
}

// Writes new keys or values behind those of the past, into the buffer with room for all tokens.
ValueId Cached(Upgrade& u, ValueId past, ValueId fresh, const Places& p, ValueId present) {
  if (past == kNoValue) return present == kNoValue ? fresh : Into(u, present, "Identity", {fresh});
  const ValueId room = Op(u, "Relu", {Op(u, "Sub", {p.total, DimOf(u, past, 2)})});
  const ValueId shape = Op(u, "Concat", {DimsOf(u, past, 0, 2), room, DimOf(u, past, 3)}, "axis", 0);
  const ValueId zeros = Op(u, "Expand", {u.Scalar("zero", 0, past), shape});
  const ValueId buffer = Op(u, "Concat", {past, zeros}, "axis", 2);
  return Into(u, present, "TensorScatter", {buffer, fresh, p.begins}, With("axis", int64_t{2}));
}

ValueId VisibleBias(Upgrade& u, const Attended& a, const Places& p) {
  const ValueId keys = CountTo(u, DimOf(u, a.k, 2));
  const int64_t window = u.node.attributes.Int("local_window_size", -1);
  if (u.node.attributes.Int("causal", 1) == 0)
    return BiasWhere(u, Op(u, "Less", {keys, Reshaped(u, p.lengths, {-1, 1, 1, 1})}), kHidden, a.q);
  const ValueId places = QueryPlaces(u, p);
  ValueId visible = Op(u, "LessOrEqual", {keys, places});
  if (window > 0) {  // a query's own place is the last one of its window
    const ValueId before = Op(u, "Sub", {places, ScalarConstant(u, window)});
    visible = Op(u, "And", {visible, Op(u, "Greater", {keys, before})});
  }
  return BiasWhere(u, visible, kHidden, a.q);
}

// The bias has a column for each token; the buffer may have more.
ValueId Widened(Upgrade& u, ValueId bias, const Attended& a) {
  const ValueId more = Op(u, "Sub", {DimOf(u, a.k, 2), DimOf(u, bias, 3)});
  return Op(u, "Pad", {bias, Op(u, "Concat", {Constant(u, {0, 0, 0, 0, 0, 0, 0}), more}, "axis", 0)});
}

// Says which shape the output has (microsoft_attention.cc).
void TellShape(Upgrade& u, const Attended& a) {
  if (!u.shapes) return;
  Shape shape = u.shapes->Of(u.graph, u.input(0));
  if (shape.rank() != 3) return;
  if (u.input(1) == kNoValue) shape[2] = shape[2] / (a.heads + 2 * a.kv_heads) * a.heads;
  u.shapes->Tell(u.graph, u.node.output(0), shape);
}

}  // namespace

void ExpandGroupQueryAttention(Upgrade& u) {
  Attended a;
  a.heads = Positive(u, "num_heads");
  a.kv_heads = Positive(u, "kv_num_heads");
  if (!IsSupported(u) || a.heads == 0 || a.kv_heads == 0) return;
  if (a.heads % a.kv_heads != 0)
    return u.Bad("num_heads is no multiple of kv_num_heads; got {} and {}", a.heads, a.kv_heads);
  if (u.input(5) == kNoValue || u.input(6) == kNoValue)
    return u.Bad("needs seqlens_k and total_sequence_length");
  a.scale = u.node.attributes.Float("scale", 0);
  a.softcap = u.node.attributes.Float("softcap", 0);
  if (u.input(1) == kNoValue) {
    const ValueId packed = SplitHeads(u, u.input(0), a.heads + 2 * a.kv_heads);
    const auto parts = Parts(u, packed, 1, 3, Constant(u, {a.heads, a.kv_heads, a.kv_heads}));
    a.q = parts[0], a.k = parts[1], a.v = parts[2];
  } else {
    a.q = SplitHeads(u, u.input(0), a.heads);
    a.k = SplitHeads(u, u.input(1), a.kv_heads);
    a.v = SplitHeads(u, u.input(2), a.kv_heads);
  }
  const Places places = FindPlaces(u);
  a.q = Normalized(u, a.q, u.input(14));
  a.k = Normalized(u, a.k, u.input(15));
  if (u.node.attributes.Int("do_rotary", 0) != 0) {
    a.q = Rotated(u, a.q, places);
    a.k = Rotated(u, a.k, places);
  }
  a.k = Cached(u, u.input(3), a.k, places, u.node.output(1));
  a.v = Cached(u, u.input(4), a.v, places, u.node.output(2));
  a.biases.push_back(VisibleBias(u, a, places));
  if (u.input(10) != kNoValue) a.biases.push_back(Widened(u, u.input(10), a));
  a.sink = u.input(11);
  if (a.sink == kNoValue && u.node.attributes.Int("smooth_softmax", 0) != 0)
    a.sink = u.Scalar("sink", 0, a.q);
  TellShape(u, a);
  u.node.outputs.resize(1);
  BecomeAttended(u, a);
}

}  // namespace mete::onnx_import
