// Attention as products and a softmax, which have fast kernels: what Attention, MultiHeadAttention and
// GroupQueryAttention of com.microsoft have in common. Queries, keys and values are 4-D: batch, heads,
// length, size.
#pragma once

#include <limits>
#include <vector>

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

struct Attended {
  ValueId q = kNoValue, k = kNoValue, v = kNoValue;
  int64_t heads = 1, kv_heads = 1;   // each head of keys and values serves heads / kv_heads heads of queries
  float scale = 0;                   // of the scores; 0: 1 / sqrt(size)
  float softcap = 0;                 // 0: none
  std::vector<ValueId> biases = {};  // that are added to the scores
  // A score of each head beside those of the keys, whose weight is lost: a vector, or one scalar for all.
  ValueId sink = kNoValue;
};

// Makes the node the result as batch x length x (heads * size).
void BecomeAttended(Upgrade& u, const Attended& a);

// Returns batch x length x (heads * size) as batch x heads x length x size.
ValueId SplitHeads(Upgrade& u, ValueId x, int64_t heads);

// Returns what is added to scores: 0 where a query sees a key, otherwise `hidden`.
ValueId BiasWhere(Upgrade& u, ValueId visible, float hidden, ValueId like);
// The least f32, which leaves no weight to a key beside one that is seen.
inline constexpr float kHidden = std::numeric_limits<float>::lowest();

// Returns a bias by a mask: of the valid lengths of keys (batch), of these and the first valid keys
// (2 * batch), or of the numbers over 0 for valid keys (batch x keys, batch x queries x keys).
ValueId PaddingBias(Upgrade& u, ValueId mask, const Attended& a, float hidden);
// Returns the bias that hides keys behind a query's place. `fresh` are the keys without those of the past.
ValueId CausalBias(Upgrade& u, const Attended& a, ValueId fresh);

}  // namespace mete::onnx_import
