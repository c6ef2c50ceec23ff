// The shape of TfIdfVectorizer, and the checks of its pool of n-grams.
#include <algorithm>

#include "graph/ops/tensor_rules.h"

namespace mete {
namespace {

// Returns the number of n-grams in a pool that has those of one item first, then those of two, and so on.
int64_t CheckedGrams(const InferContext& c) {
  const Ints &counts = c.attributes.IntList("ngram_counts"), &pool = c.attributes.IntList("pool_int64s");
  if (pool.empty()) c.Bad("pool_int64s is missing; expected the integers of the n-grams");
  int64_t grams = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t begin = counts[i], end = i + 1 < counts.size() ? counts[i + 1] : int64_t(pool.size());
    const int64_t length = int64_t(i) + 1;
    if (begin < 0 || begin > end || end > int64_t(pool.size()) || (end - begin) % length != 0)
      c.Bad("ngram_counts; got {} to {} for {}-grams, expected whole ones within a pool of {}", begin, end,
            length, pool.size());
    grams += (end - begin) / length;
  }
  return grams;
}

void CheckLengths(const InferContext& c) {
  const int64_t least = c.attributes.Int("min_gram_length", 0), most = c.attributes.Int("max_gram_length", 0);
  const int64_t levels = int64_t(c.attributes.IntList("ngram_counts").size());
  if (least < 1 || most < least || most > levels)
    c.Bad("min_gram_length and max_gram_length; got {} and {}, expected 1 to {} (the length of ngram_counts)",
          least, most, levels);
  if (const int64_t skips = c.attributes.Int("max_skip_count", 0); skips < 0)
    c.Bad("max_skip_count; got {}, expected 0 or more", skips);
}

}  // namespace

void InferTfIdfVectorizer(InferContext& c) {
  NeedType(c, 0, kIndexTypes);
  c.NeedRank(0, 1, 2);
  CheckLengths(c);
  const std::string_view mode = c.attributes.String("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    c.Bad("mode; got {}, expected TF, IDF or TFIDF", mode);
  const Ints& indexes = c.attributes.IntList("ngram_indexes");
  const int64_t grams = CheckedGrams(c);
  const auto [least, most] = std::minmax_element(indexes.begin(), indexes.end());
  if (int64_t(indexes.size()) != grams || grams == 0 || *least < 0 || *most == INT64_MAX)
    c.Bad("ngram_indexes; got {} numbers, expected a place from 0 on for each of {} n-grams", indexes.size(),
          grams);
  const size_t weights = c.attributes.FloatList("weights").size();
  if (weights != 0 && weights != indexes.size())
    c.Bad("weights; got {}, expected one for each of {} n-grams", weights, indexes.size());
  Shape out = c.shape(0);
  out[out.rank() - 1] = *most + 1;
  c.Output(0, DType::kF32, out);
}

}  // namespace mete
