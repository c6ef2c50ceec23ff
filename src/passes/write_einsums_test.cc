#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/graphs_testing.h"

namespace mete {
namespace {

Attributes EquationOf(const std::string& equation) {
  Attributes attributes;
  attributes.Set("equation", equation);
  return attributes;
}

struct Case {
  const char* equation;
  std::vector<Shape> shapes;
  const char* ops;  // those that are left, without transpositions and views, in their order
};

std::string OpsOf(const Graph& graph) {
  std::string ops;
  for (const Node& node : graph.nodes) {
    const bool moves =
        node.op == "Transpose" || node.op == "Reshape" || node.op == "Squeeze" || node.op == "Unsqueeze";
    if (!moves) ops += (ops.empty() ? "" : " ") + node.op;
  }
  return ops;
}

TEST(WriteEinsums, GivesTheSameForEveryEquation) {
  const Case cases[] = {
      {"ij,jk->ik", {{3, 4}, {4, 5}}, "MatMul"},
      {"ij,kj->ik", {{3, 4}, {5, 4}}, "MatMul"},
      {"ji,jk->ki", {{4, 3}, {4, 5}}, "MatMul"},
      {"bqhd,bkhd->bhqk", {{2, 3, 4, 5}, {2, 6, 4, 5}}, "MatMul"},
      {"bhqk,bkhd->bqhd", {{2, 4, 3, 6}, {2, 6, 4, 5}}, "MatMul"},
      {"bsd,dhk->bshk", {{2, 3, 4}, {4, 5, 2}}, "MatMul"},
      {"bshk,hkd->bsd", {{2, 3, 5, 2}, {5, 2, 4}}, "MatMul"},
      {"bchw,bchv->bcwv", {{2, 3, 4, 5}, {2, 3, 4, 6}}, "MatMul"},
      {"abxy,abz->xyz", {{2, 3, 4, 5}, {2, 3, 6}}, "MatMul"},        // two summed indices
      {"bnxy,bnzw->bxwyz", {{2, 3, 4, 1}, {2, 3, 5, 2}}, "MatMul"},  // two of rows and of columns, mixed
      {"...ij,...jk->...ik", {{2, 3, 4, 5}, {2, 3, 5, 6}}, "MatMul"},
      {"...ij,...jk->...ik", {{2, 3, 4, 5}, {5, 6}}, "MatMul"},        // an ellipsis of one operand
      {"...ij,...jk->...ik", {{2, 1, 4, 5}, {1, 3, 5, 6}}, "MatMul"},  // broadcast
      {"i,i->", {{7}, {7}}, "MatMul"},
      {"bi,bi->b", {{3, 7}, {3, 7}}, "MatMul"},
      {"bij,bj->bi", {{3, 2, 7}, {3, 7}}, "MatMul"},
      {"i,j->ij", {{3}, {4}}, "Mul"},
      {"bi,bj->bji", {{2, 3}, {2, 4}}, "Mul"},
      {"ij,ij->ij", {{3, 4}, {3, 4}}, "Mul"},
      {"ij,ji->ij", {{3, 4}, {4, 3}}, "Mul"},
      {"aij,jk->ik", {{2, 3, 4}, {4, 5}}, "ReduceSum MatMul"},
      {"ij,jkb->ik", {{3, 4}, {4, 5, 2}}, "ReduceSum MatMul"},
      {"ij,kl->", {{3, 4}, {2, 5}}, "ReduceSum ReduceSum Mul"},
      {"ij->i", {{3, 4}}, "ReduceSum"},
      {"ij->", {{3, 4}}, "ReduceSum"},
      {"abc->cb", {{3, 4, 2}}, "ReduceSum"},
      {"ab,bc,cd->ad", {{2, 3}, {3, 4}, {4, 5}}, "MatMul MatMul"},
      {"ab,cd,bc->ad", {{2, 3}, {4, 5}, {3, 4}}, "MatMul MatMul"},  // the neighbour first
      {"bi,bj,bk->bijk", {{2, 3}, {2, 4}, {2, 5}}, "Mul Mul"},
      {"ij,jk", {{3, 4}, {4, 5}}, "MatMul"},  // without an output
      {"ba,ab", {{3, 4}, {4, 3}}, "MatMul"},
      {"...i->...i", {{5}}, ""},
  };
  for (const auto& [equation, shapes, ops] : cases) {
    SCOPED_TRACE(equation);
    Builder b;
    std::vector<ValueId> inputs;
    for (const Shape& shape : shapes) inputs.push_back(b.Input(shape));
    Graph& g = b.Output(b.Op("Einsum", inputs, EquationOf(equation)));
    ExpectSame(g, WriteEinsums);
    EXPECT_EQ(OpsOf(g), ops) << ToText(g);
  }
}

TEST(WriteEinsums, PermutesDimensions) {
  struct Permutation {
    const char* equation;
    Ints perm;  // empty: it is none
  };
  const Permutation cases[] = {{"...ij->...ji", {0, 2, 1}}, {"abc -> cab", {2, 0, 1}},
                               {"a...->...a", {1, 2, 0}},   {"i...j->j...i", {2, 1, 0}},
                               {"cab", {1, 2, 0}},          {"aab->ab", {}}};
  for (const auto& [equation, perm] : cases)
    for (const DType type : {DType::kF32, DType::kI64}) {
      SCOPED_TRACE(equation);
      Builder b;
      const ValueId x = b.Input({3, 3, 2});
      b.graph.value(x).type = type;
      Graph& g = b.Output(b.Op("Einsum", {x}, EquationOf(equation)));
      FoldConstants(g);
      EXPECT_EQ(WriteEinsums(g), !perm.empty());
      Settle(g);
      ASSERT_EQ(g.nodes.size(), 1u);
      EXPECT_EQ(g.nodes[0].op, perm.empty() ? "Einsum" : "Transpose");
      EXPECT_EQ(g.nodes[0].attributes.IntList("perm"), perm);
    }
}

// Products have constants on the right, whose transposition is folded.
TEST(WriteEinsums, MultipliesByWeights) {
  for (const bool weights_first : {false, true}) {
    Builder b;
    const ValueId x = b.Input({2, 3, 4}), w = b.Weight({5, 2, 4});
    Graph& g = weights_first ? b.Output(b.Op("Einsum", {w, x}, EquationOf("hkd,bsd->bshk")))
                             : b.Output(b.Op("Einsum", {x, w}, EquationOf("bsd,hkd->bshk")));
    (void)RunPasses(g);
    const auto product =
        std::find_if(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return n.op == "MatMul"; });
    ASSERT_NE(product, g.nodes.end()) << ToText(g);
    EXPECT_TRUE(g.value(product->inputs[1]).is_constant()) << ToText(g);
    EXPECT_EQ(CountOf(g, "Transpose"), 0) << ToText(g);
  }
}

TEST(WriteEinsums, GivesItsNodesNamesOfTheirOwn) {
  Builder b;
  const ValueId x = b.Input({3, 4}), y = b.graph.AddValue("y");
  b.graph.AddNode("Relu", "Einsum1.step0", {x}, {y});
  Graph& g = b.Output(b.Op("Einsum", {y, b.Input({4, 2})}, EquationOf("ij,jk->ik")));
  ExpectSame(g, WriteEinsums);
}

// Diagonals, other types, and more indices than a matrix and its batch may have.
TEST(WriteEinsums, LeavesTheOthers) {
  const Case cases[] = {{"ii->i", {{3, 3}}, "Einsum"},
                        {"iij,jk->ik", {{3, 3, 4}, {4, 5}}, "Einsum"},
                        {"abcdef,fgh->abcdegh", {{1, 2, 1, 2, 1, 2}, {2, 3, 2}}, "Einsum"},
                        {"ij,jk->ik", {{0, 4}, {4, 5}}, "Einsum"}};
  for (const auto& [equation, shapes, ops] : cases) {
    SCOPED_TRACE(equation);
    Builder b;
    std::vector<ValueId> inputs;
    for (const Shape& shape : shapes) inputs.push_back(b.Input(shape));
    Graph& g = b.Output(b.Op("Einsum", inputs, EquationOf(equation)));
    FoldConstants(g);
    EXPECT_FALSE(WriteEinsums(g));
    EXPECT_EQ(OpsOf(g), ops);
  }
  Builder b;
  const ValueId x = b.Input({3, 4}), y = b.Input({4, 2});
  for (const ValueId id : {x, y}) b.graph.value(id).type = DType::kI64;
  Graph& g = b.Output(b.Op("Einsum", {x, y}, EquationOf("ij,jk->ik")));
  FoldConstants(g);
  EXPECT_FALSE(WriteEinsums(g));
}

}  // namespace
}  // namespace mete
