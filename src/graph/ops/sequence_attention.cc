#include "base/heads.h"
#include "graph/ops/check.h"
#include "graph/ops/sequence_rules.h"

namespace mete {
namespace {

// Returns input i as heads. A 3-D input needs its number of heads in attribute `count_name`.
Heads CheckedHeads(const InferContext& c, int i, const char* count_name) {
  const Shape& s = c.shape(i);
  if (CheckedElements(s, c.type(i), int64_t(1) << 40) < 0)
    c.Bad("input {} has impossible dimensions; got {}", i, ToString(s));
  if (s.rank() == 4) return Heads(s, 0);
  const int64_t count = c.attributes.Int(count_name, 0);
  if (count < 1 || s[2] % count != 0)
    c.Bad("{} does not divide the last dimension of input {}; got {} and {}", count_name, i, count,
          ToString(s));
  return Heads(s, count);
}

void NeedQueryKeyValue(const InferContext& c, int least, int most) {
  NeedType(c, 0, kFloatTypes);
  for (int i = 0; i < 3; ++i) {
    c.NeedRank(i, least, most);
    if (c.shape(i).rank() != c.shape(0).rank())
      c.Bad("query, key and value differ in rank; got {} and {}", ToString(c.shape(0)), ToString(c.shape(i)));
    if (c.type(i) != c.type(0))
      c.Bad("query, key and value differ in type; got {} and {}", Name(c.type(0)), Name(c.type(i)));
  }
}

void CheckHeadsFit(const InferContext& c, const Heads& q, const Heads& k, const Heads& v) {
  if (q.batch != k.batch || q.batch != v.batch)
    c.Bad("batches differ; got {}, {} and {}", q.batch, k.batch, v.batch);
  if (q.size != k.size) c.Bad("query and key differ in head size; got {} and {}", q.size, k.size);
  if (k.length != v.length) c.Bad("key and value differ in length; got {} and {}", k.length, v.length);
  if (k.heads != v.heads || k.heads < 1 || q.heads % k.heads != 0)
    c.Bad(
        "numbers of heads do not fit; got {} queries, {} keys and {} values, expected a multiple of equal "
        "numbers",
        q.heads, k.heads, v.heads);
}

void CheckMask(const InferContext& c, const Shape& scores) {
  if (!c.has(3)) return;
  if (c.type(3) != DType::kBool && c.type(3) != c.type(0))
    c.Bad("attn_mask has the wrong type; got {}, expected bool or {}", Name(c.type(3)), Name(c.type(0)));
  c.NeedRank(3, 1, 4);
  const Shape& mask = c.shape(3);
  bool good = mask.back() <= scores.back();
  for (int i = 0; i + 1 < mask.rank(); ++i) good &= mask[i] == 1 || mask[i] == scores[i + 4 - mask.rank()];
  if (!good) c.Bad("attn_mask does not fit the scores; got {} for {}", ToString(mask), ToString(scores));
}

// Returns the number of past keys, 0 if past_key is absent.
int64_t CheckPast(const InferContext& c, const Heads& k, const Heads& v) {
  if (c.has(4) != c.has(5)) c.Bad("past_key and past_value must be given together");
  if (!c.has(4)) return 0;
  if (c.has(6)) c.Bad("nonpad_kv_seqlen cannot be given together with past_key");
  for (int i : {4, 5}) {
    c.NeedRank(i, 4, 4);
    if (c.type(i) != c.type(0))
      c.Bad("input {} has the wrong type; got {}, expected {}", i, Name(c.type(i)), Name(c.type(0)));
  }
  const int64_t past = c.shape(4)[2];
  NeedShape(c, 4, Shape{k.batch, k.heads, past, k.size});
  NeedShape(c, 5, Shape{v.batch, v.heads, past, v.size});
  return past;
}

}  // namespace

void InferAttention(InferContext& c) {
  NeedQueryKeyValue(c, 3, 4);
  const Heads q = CheckedHeads(c, 0, "q_num_heads"), k = CheckedHeads(c, 1, "kv_num_heads"),
              v = CheckedHeads(c, 2, "kv_num_heads");
  CheckHeadsFit(c, q, k, v);
  const int64_t total = CheckPast(c, k, v) + k.length;
  const Shape scores{q.batch, q.heads, q.length, total};
  CheckMask(c, scores);
  if (c.has(6)) {
    NeedType(c, 6, kIndexTypes);
    NeedShape(c, 6, Shape{q.batch});
  }
  for (const char* side : {"left_window_size", "right_window_size"})
    if (const int64_t size = c.attributes.Int(side, -1); size < -1 || size > int64_t(1) << 40)
      c.Bad("{} is out of range; got {}, expected at least -1", side, size);
  if (const int64_t mode = c.attributes.Int("qk_matmul_output_mode", 0); mode < 0 || mode > 3)
    c.Bad("qk_matmul_output_mode is out of range; got {}, expected 0 to 3", mode);
  c.Output(0, c.type(0),
           c.shape(0).rank() == 4 ? Shape{q.batch, q.heads, q.length, v.size}
                                  : Shape{q.batch, q.length, q.heads * v.size});
  c.Output(1, c.type(0), Shape{k.batch, k.heads, total, k.size});
  c.Output(2, c.type(0), Shape{v.batch, v.heads, total, v.size});
  c.Output(3, c.type(0), scores);
}

void InferFlexAttention(InferContext& c) {
  NeedQueryKeyValue(c, 4, 4);
  const Heads q = CheckedHeads(c, 0, ""), k = CheckedHeads(c, 1, ""), v = CheckedHeads(c, 2, "");
  CheckHeadsFit(c, q, k, v);
  c.Output(0, c.type(0), Shape{q.batch, q.heads, q.length, v.size});
}

void InferLinearAttention(InferContext& c) {
  NeedQueryKeyValue(c, 3, 3);
  const Heads q = CheckedHeads(c, 0, "q_num_heads"), k = CheckedHeads(c, 1, "kv_num_heads"),
              v = CheckedHeads(c, 2, "kv_num_heads");
  CheckHeadsFit(c, q, k, v);
  if (q.length != k.length) c.Bad("query and key differ in length; got {} and {}", q.length, k.length);
  const std::string_view rule = c.attributes.String("update_rule", "gated_delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta")
    c.Bad("update_rule is unknown; got {}, expected linear, gated, delta or gated_delta", rule);
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  if (c.has(4) != gated)
    c.Bad("update_rule {} and the decay do not fit; got a decay: {}, expected: {}", rule, c.has(4), gated);
  if (c.has(5) != delta)
    c.Bad("update_rule {} and beta do not fit; got a beta: {}, expected: {}", rule, c.has(5), delta);
  const Shape state{k.batch, k.heads, k.size, v.size}, one_a_head{k.batch, k.length, k.heads};
  for (int i : {3, 4, 5})
    if (c.has(i)) NeedType(c, i, kFloatTypes);
  if (c.has(3)) NeedShape(c, 3, state);
  if (gated && c.shape(4) != one_a_head) NeedShape(c, 4, Shape{k.batch, k.length, k.heads * k.size});
  if (delta && c.shape(5) != one_a_head) NeedShape(c, 5, Shape{k.batch, k.length, 1});
  c.Output(0, c.type(0), Shape{q.batch, q.length, q.heads * v.size});
  c.Output(1, c.has(3) ? c.type(3) : c.type(0), state);
}

void InferRotaryEmbedding(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  for (int i : {1, 2})
    if (c.type(i) != c.type(0))
      c.Bad("inputs 0 and {} differ in type; got {} and {}", i, Name(c.type(0)), Name(c.type(i)));
  c.NeedRank(0, 3, 4);
  const Heads x = CheckedHeads(c, 0, "num_heads");
  const int64_t given = c.attributes.Int("rotary_embedding_dim", 0), rotated = given == 0 ? x.size : given;
  if (rotated < 0 || rotated > x.size || rotated % 2 != 0)
    c.Bad("rotary_embedding_dim is wrong; got {}, expected an even number up to {}", rotated, x.size);
  for (int i : {1, 2}) {
    if (c.has(3)) {
      c.NeedRank(i, 2, 2);
      NeedShape(c, i, Shape{c.shape(1)[0], rotated / 2});
    } else {
      NeedShape(c, i, Shape{x.batch, x.length, rotated / 2});
    }
  }
  if (c.has(3)) {
    NeedType(c, 3, kIndexTypes);
    NeedShape(c, 3, Shape{x.batch, x.length});
  }
  c.Output(0, c.type(0), c.shape(0));
}

}  // namespace mete
