#include "processor/opencl/kernels/attention.h"

#include "base/error.h"

namespace mete::opencl {
namespace {

// The product of `rows` with `columns` columns, sums of `k`, for each head: heads are images where they come
// first, else groups of the rows' channels.
ConvSpec ForHeads(const AttentionSpec& a, int64_t rows, int64_t columns, int64_t k) {
  if (a.kv_heads < 1 || a.heads % a.kv_heads)
    Invalid("GPU attention", "the heads of keys do not divide those of queries; got {} and {}", a.kv_heads,
            a.heads);
  const int64_t images = a.heads_first ? a.heads : 1, groups = a.heads_first ? 1 : a.heads;
  ConvSpec spec{.shape = SizedProduct(a.batch * images, rows, groups * columns, groups * k),
                .weights_per_image = true};
  spec.shape.groups = groups;
  return spec;
}

// Keys or values, of which the elements of a head, neighbours in memory, are outputs of the product or steps
// of its sums.
PackSource OfHeads(const AttentionSpec& a, int64_t size, bool sums) {
  const int64_t repeat = a.heads / a.kv_heads, row = a.heads_first ? size : a.kv_heads * size;
  PackSource from{.type = a.type, .output = sums ? row : 1, .channel = sums ? 1 : row};
  if (a.heads_first) {
    from.image = a.keys * size;
    from.image_repeat = repeat;
  } else {
    from.image = a.keys * row;
    from.group = size;
    from.group_repeat = repeat;
  }
  return from;
}

}  // namespace

ConvSpec AttentionScores(const AttentionSpec& a) {
  ConvSpec spec = ForHeads(a, a.queries, a.keys, a.size);
  spec.input = spec.weights = a.type;
  spec.scale = a.scale;
  return spec;
}

PackSource AttentionKeys(const AttentionSpec& a) { return OfHeads(a, a.size, /*sums=*/true); }

RowSpec AttentionRows(const AttentionSpec& a) {
  RowSpec rows{.function = RowFunction::kSoftmax, .rows = a.batch * a.heads * a.queries, .length = a.keys};
  rows.scores = ScoreRows{.heads = a.heads, .queries = a.queries, .heads_first = a.heads_first};
  return rows;
}

ConvSpec AttentionSums(const AttentionSpec& a) {
  ConvSpec spec = ForHeads(a, a.queries, a.value_size, a.keys);
  spec.weights = spec.output = a.type;
  return spec;
}

PackSource AttentionValues(const AttentionSpec& a) { return OfHeads(a, a.value_size, /*sums=*/false); }

}  // namespace mete::opencl
