// The kernel of TfIdfVectorizer, which counts the n-grams of a pool in rows of integers.
#include <algorithm>
#include <span>
#include <vector>

#include "kernels/reference/index_kernels.h"
#include "kernels/reference/indexing.h"

namespace mete {
namespace {

// The n-grams of one length in the pool, in lexicographic order.
class Grams {
 public:
  using Gram = std::span<const int64_t>;

  // `first`: the number of the first of them among all n-grams.
  Grams(Gram pool, int64_t length, int64_t first) : pool_(pool), length_(size_t(length)), first_(first) {
    for (size_t i = 0; i < pool_.size() / length_; ++i) order_.push_back(i);
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return Less(At(a), At(b)); });
  }

  int64_t length() const { return int64_t(length_); }

  // Returns the number of an n-gram, -1 if the pool lacks it.
  int64_t Find(Gram gram) const {
    const auto at = std::lower_bound(order_.begin(), order_.end(), gram,
                                     [&](size_t i, Gram wanted) { return Less(At(i), wanted); });
    return at == order_.end() || Less(gram, At(*at)) ? -1 : first_ + int64_t(*at);
  }

 private:
  static bool Less(Gram a, Gram b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
  Gram At(size_t i) const { return pool_.subspan(i * length_, length_); }

  Gram pool_;
  size_t length_;
  int64_t first_;
  std::vector<size_t> order_;
};

// The n-grams of a node, by length; those of a length that it does not ask for are left out.
std::vector<Grams> GramsOf(const Attributes& a) {
  const Ints &starts = a.IntList("ngram_counts"), &pool = a.IntList("pool_int64s");
  std::vector<Grams> all;
  int64_t first = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t length = int64_t(i) + 1, end = i + 1 < starts.size() ? starts[i + 1] : int64_t(pool.size());
    const auto part = std::span(pool).subspan(size_t(starts[i]), size_t(end - starts[i]));
    if (length >= a.Int("min_gram_length", 1) && length <= a.Int("max_gram_length", 1) && !part.empty())
      all.emplace_back(part, length, first);
    first += int64_t(part.size()) / length;
  }
  return all;
}

// Adds to `counts` how often a row has each of the n-grams, whose items lie 1 to `skips` + 1 apart.
void Count(const Grams& grams, int64_t skips, std::span<const int64_t> row, int64_t* counts) {
  const int64_t items = int64_t(row.size()), length = grams.length();
  if (length > items) return;
  std::vector<int64_t> gram(static_cast<size_t>(length));
  for (int64_t step = 1; step - 1 <= skips && (length - 1) * step < items; ++step) {
    for (int64_t start = 0; start + (length - 1) * step < items; ++start) {
      for (int64_t i = 0; i < length; ++i) gram[size_t(i)] = row[size_t(start + i * step)];
      if (const int64_t found = grams.Find(gram); found >= 0) ++counts[found];
    }
    if (length == 1) return;  // nothing lies between the items of one
  }
}

}  // namespace

void RunTfIdfVectorizer(RefArgs& args) {
  const Attributes& a = args.attributes;
  const Ints& indexes = a.IntList("ngram_indexes");
  const Floats& weights = a.FloatList("weights");
  const std::string_view mode = a.String("mode", "");
  const bool weighted = mode != "TF" && !weights.empty();
  const int64_t most = mode == "IDF" ? 1 : INT64_MAX, skips = a.Int("max_skip_count", 0);
  const Shape& in = args.in[0].shape;
  const int64_t items = in.back(), rows = in.rank() == 2 ? in[0] : 1;
  const IndexReader input(args.in[0]);
  const std::vector<Grams> grams = GramsOf(a);
  int64_t* row = args.scratch.Get<int64_t>(size_t(items));
  int64_t* counts = args.scratch.Get<int64_t>(indexes.size());
  float* out = args.out[0].as<float>();
  std::fill_n(out, args.out[0].elements(), 0.0f);
  for (int64_t r = 0; r < rows; ++r, out += args.out[0].shape.back()) {
    for (int64_t i = 0; i < items; ++i) row[i] = input[r * items + i];
    std::fill_n(counts, indexes.size(), 0);
    for (const Grams& g : grams) Count(g, skips, {row, size_t(items)}, counts);
    for (size_t i = 0; i < indexes.size(); ++i)
      out[indexes[i]] += float(std::min(counts[i], most)) * (weighted ? weights[i] : 1);
  }
}

}  // namespace mete
