// Tests of what folding charges for operators whose steps depend on their attributes.
#include "passes/fold_work.h"

#include <gtest/gtest.h>

#include "passes/graphs_testing.h"

namespace mete {
namespace {

// Of the node behind a value; its output has no shape yet, and counts as nothing.
double WorkOf(Builder& b, ValueId output) { return FoldWork(b.Output(output), b.graph.nodes.back()); }

TEST(FoldWork, CountsTheNodesOfAllTreesInEachRow) {
  Builder b;
  Attributes a;
  a.Set("nodes_modes", Tensor(DType::kU8, {3}));
  a.Set("membership_values", Tensor(DType::kF32, {4}));
  a.Set("tree_roots", Ints{0, 1});
  // the elements, and rows x trees x (nodes + members of their sets)
  EXPECT_EQ(WorkOf(b, b.Op("mete.TreeEnsemble", {b.Weight({5, 2})}, a)), 10 + 5 * 2 * (3 + 4));
}

TEST(FoldWork, CountsTheProductsOfAnEinsum) {
  Builder b;
  Attributes a;
  a.Set("equation", std::string("a,bc,c->a"));
  const std::vector<ValueId> in = {b.Weight({10}), b.Weight({20, 3}), b.Weight({3})};
  // the elements, and the values of all letters x operands
  EXPECT_EQ(WorkOf(b, b.Op("Einsum", in, a)), 10 + 60 + 3 + 10 * 20 * 3 * 3);
}

TEST(FoldWork, CountsTheItemsOfEachNGramThatMayBeginAtAnItem) {
  const auto work = [](int64_t skips) {
    Builder b;
    Attributes a;
    a.Set("max_skip_count", skips);
    a.Set("ngram_counts", Ints{0, 1});
    a.Set("pool_int64s", Ints{7, 8, 9});
    return WorkOf(b, b.Op("TfIdfVectorizer", {b.Ints({1, 2, 3, 4, 5, 6})}, a));
  };
  EXPECT_EQ(work(0), 6 + 6 * 1 * (1 + 2) * 3);  // items x distances x lengths x search of a pool of 3
  EXPECT_EQ(work(1), 6 + 6 * 2 * (1 + 2) * 3);
  EXPECT_EQ(work(1000), 6 + 6 * 6 * (1 + 2) * 3);  // no item lies further from another
}

}  // namespace
}  // namespace mete
