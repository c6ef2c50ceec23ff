#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using Vf = std::vector<float>;
using Vi = std::vector<int64_t>;

Tensor L(const Vi& values) { return Tensor::Ints(values); }
Vi IntsOf(const Tensor& t) { return Vi(t.as<int64_t>(), t.as<int64_t>() + t.elements()); }

Code CodeOf(const std::string& op, const Attributes& attributes, const std::vector<Tensor>& in) try {
  RunOp(op, attributes, in);
  return Code::kOk;
} catch (const Error& e) {
  return e.code();
}

TEST(GatherKernel, CountsNegativeIndicesFromTheEnd) {
  const Tensor x = F({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(RunFor<float>("Gather", Attrs({{"axis", int64_t(1)}}), {x, L({-1, 0})}), (Vf{3, 1, 6, 4}));
  EXPECT_EQ(RunFor<float>("Gather", {}, {x, I32({}, {1})}), (Vf{4, 5, 6}));
}

TEST(IndexKernels, RefuseIndicesOutOfRange) {
  const Tensor x = F({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(CodeOf("Gather", {}, {x, L({2})}), Code::kOutOfRange);
  EXPECT_EQ(CodeOf("Gather", {}, {x, L({INT64_MIN})}), Code::kOutOfRange);
  EXPECT_EQ(CodeOf("GatherElements", {}, {x, I64({1, 1}, {-3})}), Code::kOutOfRange);
  EXPECT_EQ(CodeOf("GatherND", {}, {x, I64({1, 2}, {0, 3})}), Code::kOutOfRange);
  EXPECT_EQ(CodeOf("ScatterND", {}, {x, I64({1, 2}, {2, 0}), F({1}, {1})}), Code::kOutOfRange);
  EXPECT_EQ(CodeOf("ScatterElements", {}, {x, I64({1, 1}, {2}), F({1, 1}, {1})}), Code::kOutOfRange);
  EXPECT_EQ(CodeOf("Compress", Attrs({{"axis", int64_t(0)}}), {x, Bools({3}, {0, 0, 1})}), Code::kOutOfRange);
  EXPECT_EQ(CodeOf("TensorScatter", {}, {F({1, 2, 1}, {1, 2}), F({1, 2, 1}, {3, 4}), L({1})}),
            Code::kOutOfRange);
}

TEST(GatherElementsKernel, WalksBothAxes) {
  const Tensor x = F({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(RunFor<float>("GatherElements", {}, {x, I64({2, 3}, {1, 2, 0, 2, 0, 0})}),
            (Vf{4, 8, 3, 7, 2, 3}));
  EXPECT_EQ(RunFor<float>("GatherElements", Attrs({{"axis", int64_t(1)}}), {x, I64({1, 4}, {-1, 0, 1, 1})}),
            (Vf{3, 1, 2, 2}));
}

TEST(GatherNDKernel, TuplesAndBatches) {
  const Tensor x = F({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(RunFor<float>("GatherND", {}, {x, I64({2, 2}, {0, 1, 1, 0})}), (Vf{2, 3, 4, 5}));
  EXPECT_EQ(RunFor<float>("GatherND", Attrs({{"batch_dims", int64_t(1)}}), {x, I64({2, 1}, {1, 0})}),
            (Vf{2, 3, 4, 5}));
}

TEST(ScatterNDKernel, ReplacesAndReduces) {
  const Tensor x = F({4}, {1, 2, 3, 4}), i = I64({3, 1}, {1, 3, 1}), u = F({3}, {10, 20, 30});
  const auto run = [&](const char* reduction) {
    return RunFor<float>("ScatterND", Attrs({{"reduction", std::string(reduction)}}), {x, i, u});
  };
  EXPECT_EQ(run("none"), (Vf{1, 30, 3, 20}));
  EXPECT_EQ(run("add"), (Vf{1, 42, 3, 24}));
  EXPECT_EQ(run("mul"), (Vf{1, 600, 3, 80}));
  EXPECT_EQ(run("max"), (Vf{1, 30, 3, 20}));
  EXPECT_EQ(run("min"), (Vf{1, 2, 3, 4}));
}

TEST(ScatterElementsKernel, WritesAlongTheAxis) {
  const Tensor x = F({1, 5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(RunFor<float>("ScatterElements", Attrs({{"axis", int64_t(1)}}),
                          {x, I64({1, 2}, {1, -2}), F({1, 2}, {1.5f, 2.5f})}),
            (Vf{1, 1.5f, 3, 2.5f, 5}));
  const auto add = Attrs({{"axis", int64_t(0)}, {"reduction", std::string("add")}});
  EXPECT_EQ(RunFor<uint8_t>("ScatterElements", add, {U8({2}, {250, 1}), L({0, 0}), U8({2}, {5, 10})}),
            (std::vector<uint8_t>{9, 1}));
}

TEST(TensorScatterKernel, CircularWrapsAround) {
  const auto circular = Attrs({{"mode", std::string("circular")}});
  EXPECT_EQ(RunFor<float>("TensorScatter", circular, {F({1, 3, 1}, {1, 2, 3}), F({1, 2, 1}, {8, 9}), L({2})}),
            (Vf{9, 2, 8}));
  EXPECT_EQ(RunFor<float>("TensorScatter", {}, {F({2, 2, 1}, {1, 2, 3, 4}), F({2, 1, 1}, {8, 9}), L({0, 1})}),
            (Vf{8, 2, 3, 9}));
}

TEST(CompressKernel, FlatOrAlongAnAxis) {
  const Tensor x = F({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto rows = RunOp("Compress", Attrs({{"axis", int64_t(0)}}), {x, Bools({3}, {0, 1, 1})});
  EXPECT_EQ(rows[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(RunFor<float>("Compress", Attrs({{"axis", int64_t(1)}}), {x, Bools({2}, {0, 1})}), (Vf{2, 4, 6}));
  EXPECT_EQ(RunFor<float>("Compress", {}, {x, Bools({5}, {0, 1, 0, 0, 1})}), (Vf{2, 5}));
}

TEST(UniqueKernel, SortedAndByAppearance) {
  const Tensor x = F({6}, {2, 1, 1, 3, 4, 3});
  const auto sorted = RunOp("Unique", {}, {x}, 4);
  EXPECT_EQ(Vf(sorted[0].as<float>(), sorted[0].as<float>() + 4), (Vf{1, 2, 3, 4}));
  EXPECT_EQ(IntsOf(sorted[1]), (Vi{1, 0, 3, 4}));
  EXPECT_EQ(IntsOf(sorted[2]), (Vi{1, 0, 0, 2, 3, 2}));
  EXPECT_EQ(IntsOf(sorted[3]), (Vi{2, 1, 2, 1}));
  const auto seen = RunOp("Unique", Attrs({{"sorted", int64_t(0)}}), {x}, 4);
  EXPECT_EQ(Vf(seen[0].as<float>(), seen[0].as<float>() + 4), (Vf{2, 1, 3, 4}));
  EXPECT_EQ(IntsOf(seen[1]), (Vi{0, 1, 3, 4}));
  EXPECT_EQ(IntsOf(seen[2]), (Vi{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(IntsOf(seen[3]), (Vi{1, 2, 2, 1}));
}

TEST(UniqueKernel, SlicesAlongAnAxis) {
  const auto out = RunOp("Unique", Attrs({{"axis", int64_t(0)}}), {F({3, 2}, {2, 3, 1, 0, 2, 3})}, 2);
  EXPECT_EQ(out[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(Vf(out[0].as<float>(), out[0].as<float>() + 4), (Vf{1, 0, 2, 3}));
  EXPECT_EQ(IntsOf(out[1]), (Vi{1, 0}));
}

TEST(UniqueKernel, NanEqualsItself) {
  EXPECT_EQ(RunFor<float>("Unique", {}, {F({3}, {NAN, 1, NAN})}).size(), 2u);
}

TEST(NonMaxSuppressionKernel, DropsOverlapsAndTiesGoToTheEarlierBox) {
  const Tensor boxes = F({1, 3, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 10, 1, 11});
  const auto run = [&](Vf scores, int64_t most) {
    return IntsOf(RunOp("NonMaxSuppression", {},
                        {boxes, F({1, 1, 3}, scores), L({most}), F({1}, {0.5f}), F({1}, {0.0f})})[0]);
  };
  EXPECT_EQ(run({0.9f, 0.75f, 0.95f}, 3), (Vi{0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(run({0.5f, 0.5f, 0.5f}, 1), (Vi{0, 0, 0}));
  EXPECT_EQ(run({-1, 0.1f, -2}, 3), (Vi{0, 0, 1}));
  EXPECT_EQ(run({1, 1, 1}, 0), Vi{});
}

TEST(Col2ImKernel, SumsOverlappingBlocks) {
  // There are three blocks of two elements, at a distance of one, on an image of four elements.
  EXPECT_EQ(RunFor<float>("Col2Im", {}, {F({1, 2, 3}, {1, 2, 3, 10, 20, 30}), L({4}), L({2})}),
            (Vf{1, 12, 23, 30}));
  const auto padded = Attrs({{"pads", Ints{1, 1}}, {"strides", Ints{2}}});
  EXPECT_EQ(RunFor<float>("Col2Im", padded, {F({1, 2, 3}, {1, 2, 3, 10, 20, 30}), L({4}), L({2})}),
            (Vf{10, 2, 20, 3}));
}

// The pool has the 1-grams 2 and 3, and the 2-grams (5, 4), (5, 6) and (7, 8); their places are turned
// around.
Attributes Vectorizer(const char* mode, int64_t least, int64_t most, int64_t skips) {
  return Attrs({{"mode", std::string(mode)},
                {"min_gram_length", least},
                {"max_gram_length", most},
                {"max_skip_count", skips},
                {"ngram_counts", Vi{0, 2}},
                {"ngram_indexes", Vi{4, 3, 2, 1, 0}},
                {"pool_int64s", Vi{2, 3, 5, 4, 5, 6, 7, 8}},
                {"weights", Vf{10, 20, 30, 40, 50}}});
}

TEST(TfIdfKernel, CountsNGrams) {
  const auto run = [](const Attributes& a, const Tensor& x) {
    return RunFor<float>("TfIdfVectorizer", a, {x});
  };
  const Tensor x = I64({7}, {1, 2, 5, 4, 5, 6, 2});
  EXPECT_EQ(run(Vectorizer("TF", 1, 1, 9), x), (Vf{0, 0, 0, 0, 2}));
  EXPECT_EQ(run(Vectorizer("TF", 1, 2, 0), x), (Vf{0, 1, 1, 0, 2}));
  EXPECT_EQ(run(Vectorizer("TF", 2, 2, 1), x), (Vf{0, 1, 1, 0, 0}));
  EXPECT_EQ(run(Vectorizer("TF", 2, 2, INT64_MAX), x), (Vf{0, 2, 1, 0, 0}));  // (5, 6) three apart as well
  EXPECT_EQ(run(Vectorizer("IDF", 1, 2, 2), x), (Vf{0, 40, 30, 0, 10}));
  EXPECT_EQ(run(Vectorizer("TFIDF", 1, 2, 2), x), (Vf{0, 80, 30, 0, 20}));
  EXPECT_EQ(run(Vectorizer("TF", 1, 2, 0), I32({2, 2}, {7, 8, 3, 3})), (Vf{1, 0, 0, 0, 0, 0, 0, 0, 2, 0}));
  EXPECT_EQ(run(Vectorizer("TF", 1, 2, 0), I32({0}, {})), (Vf{0, 0, 0, 0, 0}));
  EXPECT_EQ(run(Vectorizer("TF", 2, 2, 3), I64({1}, {5})), (Vf{0, 0, 0, 0, 0}));
  Attributes long_ones = Vectorizer("TF", 1, 5, 0);  // lengths without an n-gram, and above that of a row
  long_ones.Set("ngram_counts", Vi{0, 2, 8, 8, 8});
  EXPECT_EQ(run(long_ones, x), (Vf{0, 1, 1, 0, 2}));
}

TEST(TfIdfKernel, RefusesAPoolThatDoesNotFit) {
  const Tensor x = I64({2}, {1, 2});
  const auto refuses = [&](const char* name, Attribute value) {
    Attributes a = Vectorizer("TF", 1, 2, 0);
    a.Set(name, std::move(value));
    return CodeOf("TfIdfVectorizer", a, {x}) == Code::kInvalidArgument;
  };
  EXPECT_FALSE(refuses("mode", std::string("IDF")));
  EXPECT_TRUE(refuses("mode", std::string("tf")));
  EXPECT_TRUE(refuses("ngram_counts", Vi{0, 3}));
  EXPECT_TRUE(refuses("ngram_counts", Vi{0, 10}));
  EXPECT_TRUE(refuses("ngram_counts", Vi{-1, 2}));
  EXPECT_TRUE(refuses("ngram_indexes", Vi{0, 1, 2, 3}));
  EXPECT_TRUE(refuses("ngram_indexes", Vi{0, 1, 2, 3, -1}));
  EXPECT_TRUE(refuses("ngram_indexes", Vi{0, 1, 2, 3, int64_t(1) << 40}));
  EXPECT_TRUE(refuses("weights", Vf{1}));
  EXPECT_TRUE(refuses("min_gram_length", int64_t{0}));
  EXPECT_TRUE(refuses("max_gram_length", int64_t{3}));
  EXPECT_TRUE(refuses("max_skip_count", int64_t{-1}));
  EXPECT_TRUE(refuses("pool_int64s", Vi{}));
}

}  // namespace
}  // namespace mete
