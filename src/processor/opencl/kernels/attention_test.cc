#include "processor/opencl/kernels/attention.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"
#include "mete/error.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

struct Operands {
  std::vector<float> q, k, v, mask;
};

// Computes one output row in double, by the formula of ONNX's Attention.
std::vector<double> RowInDouble(const AttentionSpec& a, const ScoreRows& s, const Operands& x, int64_t b,
                                int64_t head, int64_t query) {
  const auto at = [&](int64_t heads, int64_t rows, int64_t size, int64_t h, int64_t row) {
    return a.heads_first ? ((b * heads + h) * rows + row) * size : ((b * rows + row) * heads + h) * size;
  };
  const int64_t kv = head / (a.heads / a.kv_heads);
  std::vector<double> scores, y(size_t(a.value_size));
  double top = -INFINITY, sum = 0;
  for (int64_t key = 0; key < a.keys; ++key) {
    double score = 0;
    for (int64_t d = 0; d < a.size; ++d)
      score += double{x.q[size_t(at(a.heads, a.queries, a.size, head, query) + d)]} *
               x.k[size_t(at(a.kv_heads, a.keys, a.size, kv, key) + d)];
    score *= a.scale;
    if (s.softcap > 0) score = s.softcap * std::tanh(score / s.softcap);
    const int64_t place = query + s.past;
    bool seen = !(s.causal && key > place) && !(s.left >= 0 && place - key > s.left) &&
                !(s.right >= 0 && key - place > s.right);
    if (s.mask) {
      const int64_t row = b * s.mask_strides[0] + head * s.mask_strides[1] + query * s.mask_strides[2];
      seen = seen && key < s.mask_length;
      if (seen && s.mask_type == DType::kU8) seen = x.mask[size_t(row + key)] != 0;
      else if (seen) score += x.mask[size_t(row + key)];
    }
    scores.push_back(seen ? score : -INFINITY);
    top = std::max(top, scores.back());
  }
  if (std::isinf(top)) return y;
  for (double& score : scores) sum += score = std::exp(score - top);
  for (int64_t key = 0; key < a.keys; ++key)
    for (int64_t d = 0; d < a.value_size; ++d)
      y[size_t(d)] +=
          scores[size_t(key)] / sum * x.v[size_t(at(a.kv_heads, a.keys, a.value_size, kv, key) + d)];
  return y;
}

class AttentionOnGpu : public WithQueue {
 protected:
  Buffer Packed(const ConvSpec& spec, const Tile& tile, const PackSource& from, const Buffer& operand) {
    Buffer packed = Blank(PackedSizes(spec, tile).bytes);
    Run(PackKernel(spec, tile, from), {&operand, &packed});
    return packed;
  }

  std::vector<float> Compute(const AttentionSpec& a, const ScoreRows& s, const Operands& x) {
    const ConvSpec first = AttentionScores(a), second = AttentionSums(a);
    const Tile score_tile = ConvTiles(first, {true, 8})[0], sum_tile = ConvTiles(second, {true, 8})[0];
    const Buffer q = Make(a.type, x.q), k = Make(a.type, x.k), v = Make(a.type, x.v),
                 mask = Make(s.mask_type, s.mask ? x.mask : std::vector<float>(1)),
                 scores = Blank(a.batch * a.heads * a.queries * a.keys * 4),
                 y = Blank(a.batch * a.heads * a.queries * a.value_size * int64_t(SizeOf(a.type)));
    const Buffer keys = Packed(first, score_tile, AttentionKeys(a), k),
                 values = Packed(second, sum_tile, AttentionValues(a), v);
    RowSpec rows = AttentionRows(a);
    rows.scores = s;
    Run(ConvKernel(first, score_tile), {&q, &keys, &scores});
    Run(RowKernel(rows, 8, a.heads_first ? 4 : 1), {&scores, s.mask ? &mask : nullptr, &scores});
    Run(ConvKernel(second, sum_tile), {&scores, &values, &y});
    return Read(y, a.type);
  }

  void Check(const AttentionSpec& a, ScoreRows s, double rounding = 0) {
    RandomData random(uint32_t(a.keys));
    Operands x{.q = random.Floats(a.batch * a.heads * a.queries * a.size),
               .k = random.Floats(a.batch * a.kv_heads * a.keys * a.size),
               .v = random.Floats(a.batch * a.kv_heads * a.keys * a.value_size),
               .mask = random.Floats(a.batch * a.heads * a.queries * a.keys)};
    for (std::vector<float>* values : {&x.q, &x.k, &x.v})
      for (float& v : *values) v = F16ToF32(F32ToF16(v));
    if (s.mask_type == DType::kU8)
      for (float& v : x.mask) v = v > 0;
    const RowSpec rows = AttentionRows(a);
    s.heads = rows.scores->heads;
    s.queries = rows.scores->queries;
    s.heads_first = rows.scores->heads_first;
    const std::vector<float> got = Compute(a, s, x);
    size_t at = 0;
    for (int64_t b = 0; b < a.batch; ++b)
      for (int64_t i = 0; i < a.heads * a.queries; ++i) {
        const int64_t head = a.heads_first ? i / a.queries : i % a.heads,
                      query = a.heads_first ? i % a.queries : i / a.heads;
        for (double expected : RowInDouble(a, s, x, b, head, query)) {
          // A score is at most size * scale, and its error changes a weight by that part of it; values are
          // at most 1, and the weights are 1 together.
          ASSERT_NEAR(got[at], expected,
                      2 * SumTolerance(a.size, double(a.size) * a.scale + 1) +
                          SumTolerance(2 * a.keys + 16, 1) + rounding)
              << "batch " << b << " head " << head << " query " << query;
          ++at;
        }
      }
  }
};

TEST_F(AttentionOnGpu, HeadsSideBySideMatchDouble) {
  AttentionSpec a{.batch = 2,
                  .heads = 3,
                  .kv_heads = 3,
                  .queries = 11,
                  .keys = 19,
                  .size = 10,
                  .value_size = 7,
                  .scale = 0.3f};
  Check(a, {});
  a.type = DType::kF16;
  Check(a, {}, 0x1p-11);
}

TEST_F(AttentionOnGpu, HeadsThatComeFirstShareKeys) {
  const AttentionSpec a{.batch = 2,
                        .heads = 4,
                        .kv_heads = 2,
                        .queries = 5,
                        .keys = 13,
                        .size = 8,
                        .value_size = 12,
                        .heads_first = true,
                        .scale = 0.5f};
  Check(a, {.past = 8, .causal = true});
  AttentionSpec side = a;
  side.heads_first = false;
  Check(side, {.softcap = 0.7f, .past = 3, .left = 4, .right = 2});
}

TEST_F(AttentionOnGpu, MasksHideKeysAndAddToScores) {
  const AttentionSpec a{.batch = 2,
                        .heads = 2,
                        .kv_heads = 2,
                        .queries = 6,
                        .keys = 16,
                        .size = 8,
                        .value_size = 8,
                        .scale = 0.5f};
  // one mask for each batch and query, of fewer keys
  Check(a, {.mask = true, .mask_length = 12, .mask_strides = {72, 0, 12}});
  Check(a, {.causal = true,
            .mask = true,
            .mask_type = DType::kU8,
            .mask_length = 16,
            .mask_strides = {0, 96, 16}});
}

TEST_F(AttentionOnGpu, AQueryThatSeesNoKeyGivesZeros) {
  const AttentionSpec a{.heads = 1, .queries = 3, .keys = 4, .size = 2, .value_size = 2};
  Check(a, {.past = 9, .left = 2});
}

TEST(AttentionText, HeadsThatDoNotFitAreRefused) {
  EXPECT_THROW(AttentionScores({.heads = 3, .kv_heads = 2}), Error);
  RowSpec rows = AttentionRows({.heads = 2, .queries = 3, .keys = 4});
  rows.rows = 5;
  EXPECT_THROW(RowKernel(rows, 4, 1), Error);
}

}  // namespace
}  // namespace mete::opencl
