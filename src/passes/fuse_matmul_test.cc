// Tests of products that read and write transposed matrices in place.
#include "base/matmul_view.h"
#include "passes/graphs_testing.h"

namespace mete {
namespace {

// Builds parts of attention: tokens x heads x size is transposed to heads x tokens x size for the products.
class HeadsBuilder : public Builder {
 public:
  ValueId Transpose(ValueId x, mete::Ints perm) {
    Attributes a;
    a.Set("perm", std::move(perm));
    return Op("Transpose", {x}, a);
  }
  ValueId Product(ValueId a, ValueId b) { return Op("MatMul", {a, b}); }
};

const Node& Only(const Graph& graph) { return graph.nodes.at(0); }

TEST(FuseMatMul, TakesTransposesAndTheScale) {
  for (const char* op : {"Mul", "Div"}) {
    HeadsBuilder b;
    const ValueId q = b.Transpose(b.Input({2, 5, 3, 7}), {0, 2, 1, 3}),
                  k = b.Transpose(b.Input({2, 4, 3, 7}), {0, 2, 3, 1});
    Graph& g = b.Output(b.Op(op, {b.Product(q, k), b.Scalar(0.125f)}));
    ExpectSame(g, FuseMatMul);
    EXPECT_EQ(g.nodes.size(), 1u) << ToText(g);
    EXPECT_EQ(Only(g).op, "mete.MatMul");
    EXPECT_EQ(Only(g).attributes.Float(kScale, 0), std::string(op) == "Mul" ? 0.125f : 8.0f);
  }
}

TEST(FuseMatMul, WritesATransposedOutput) {
  HeadsBuilder b;
  const ValueId weights = b.Input({2, 3, 5, 4}), v = b.Transpose(b.Input({2, 4, 3, 6}), {0, 2, 1, 3});
  Graph& g = b.Output(b.Transpose(b.Product(weights, v), {0, 2, 1, 3}));
  ExpectSame(g, FuseMatMul);
  EXPECT_EQ(g.nodes.size(), 1u) << ToText(g);
  EXPECT_FALSE(Only(g).attributes.Has(kPermA));
  EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{2, 5, 3, 6}));
}

TEST(FuseMatMul, LeavesWhatOthersReadAndWhatIsNoPlainProduct) {
  HeadsBuilder b;
  const ValueId x = b.Transpose(b.Input({3, 5, 4}), {1, 0, 2}), y = b.Input({5, 4, 3});
  b.Output(x);  // a second use of x
  const ValueId plain = b.Product(x, y);
  const ValueId weight = b.Product(b.Transpose(b.Input({3, 5, 4}), {1, 0, 2}), b.Weight({5, 4, 2}));
  const ValueId broadcast = b.Product(b.Transpose(b.Input({3, 5, 4}), {1, 0, 2}), b.Input({4, 2}));
  // The elements of a row of A are not adjacent.
  const ValueId columns = b.Product(b.Transpose(b.Input({5, 4, 3}), {0, 2, 1}), b.Input({5, 4, 2}));
  for (ValueId id : {plain, weight, broadcast, columns}) b.Output(b.Op("Relu", {id}));
  FoldConstants(b.graph);
  EXPECT_FALSE(FuseMatMul(b.graph)) << ToText(b.graph);
}

// The Mul broadcasts the product, and the Div divides by it: neither is a scale of the product.
TEST(FuseMatMul, LeavesAScaleThatBroadcastsTheProduct) {
  HeadsBuilder b;
  const ValueId x = b.Input({5, 4}), y = b.Input({4, 5});
  const ValueId one = b.graph.AddConstant("one", Tensor::Floats({1, 1, 1}, std::vector<float>{2}));
  Graph& g = b.Output(b.Op("Mul", {b.Product(x, y), one}));
  FoldConstants(g);
  EXPECT_FALSE(FuseMatMul(g));
  HeadsBuilder c;
  Graph& divided = c.Output(c.Op("Div", {c.Scalar(2), c.Product(c.Input({5, 4}), c.Input({4, 5}))}));
  FoldConstants(divided);
  EXPECT_FALSE(FuseMatMul(divided));
}

TEST(MatMulView, WhatDoesNotFitIsTold) {
  MatMulView view;
  const auto problem = [&](const Shape& a, const Shape& b,
                           std::initializer_list<std::pair<const char*, mete::Ints>> perms) {
    Attributes attributes;
    for (const auto& [name, perm] : perms) attributes.Set(name, perm);
    return ParseMatMulView(attributes, a, b, view);
  };
  EXPECT_EQ(problem({2, 3}, {3, 4}, {}), "");
  EXPECT_NE(problem({3}, {3}, {}), "");
  EXPECT_NE(problem({1, 2, 3}, {3, 4}, {}), "");
  EXPECT_NE(problem({2, 3}, {2, 4}, {}), "");
  EXPECT_EQ(problem({3, 2}, {3, 4}, {{kPermA, {1, 0}}}), "");
  for (const mete::Ints& perm :
       {mete::Ints{0}, mete::Ints{0, 0}, mete::Ints{0, 2}, mete::Ints{-1, 0}, mete::Ints{0, 1, 2}})
    for (const char* name : {kPermA, kPermB, kPermY}) EXPECT_NE(problem({3, 3}, {3, 3}, {{name, perm}}), "");
  EXPECT_NE(problem({2, 3, 4}, {3, 4, 5}, {}), "");
}

// A model file may have any batch size, so the view must store nothing per product.
TEST(MatMulView, ALargeBatchTakesNoMemory) {
  MatMulView view;
  Attributes attributes;
  attributes.Set(kPermA, mete::Ints{1, 0, 2, 3});
  constexpr int64_t kMany = int64_t{1} << 40;
  ASSERT_EQ(ParseMatMulView(attributes, {3, kMany, 1, 2}, {kMany, 3, 2, 1}, view), "");
  EXPECT_EQ(view.batch, 3 * kMany);
  const MatMulView::Product at = view.At(3 * (kMany - 1) + 2);
  EXPECT_EQ(at.a, 2 * (2 * kMany + kMany - 1));
  EXPECT_EQ(at.b, 2 * (3 * (kMany - 1) + 2));
  EXPECT_EQ(at.y, 3 * (kMany - 1) + 2);
}

}  // namespace
}  // namespace mete
