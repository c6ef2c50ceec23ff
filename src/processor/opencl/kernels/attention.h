// Attention as text: a product of queries and keys for each head, a softmax with the mask, and a product with
// the values. The two products are grouped convolutions of 1x1 (convolution.h), whose images have weights of
// their own: no tensor is transposed.
//   scores [rows of queries][keys] = scale * Q K^T;  P = softmax(scores + mask);  output = P V
#pragma once

#include "processor/opencl/kernels/convolution.h"
#include "processor/opencl/kernels/rows.h"

namespace mete::opencl {

struct AttentionSpec {
  int64_t batch = 1;
  int64_t heads = 1, kv_heads = 1;  // of the queries, and of keys and values, a divisor
  int64_t queries = 1, keys = 1;
  int64_t size = 1, value_size = 1;  // of a head of queries and keys, and of values
  // Queries, keys, values and output are [batch][heads][rows][size]; else [batch][rows][heads][size].
  bool heads_first = false;
  float scale = 1;
  DType type = DType::kF32;  // of all tensors; the scores are f32
};

// The first product: from the queries and packed keys to the scores, f32. They are [batch][heads][queries]
// [keys] with heads_first, else [batch][queries][heads][keys].
ConvSpec AttentionScores(const AttentionSpec& spec);
PackSource AttentionKeys(const AttentionSpec& spec);  // how keys lie in memory, for PackKernel()

// The softmax of the scores, in place; the caller adds mask and windows.
RowSpec AttentionRows(const AttentionSpec& spec);

// The second product: from the scores behind the softmax and packed values to the output.
ConvSpec AttentionSums(const AttentionSpec& spec);
PackSource AttentionValues(const AttentionSpec& spec);

}  // namespace mete::opencl
