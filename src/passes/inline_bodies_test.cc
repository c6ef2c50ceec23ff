#include "passes/inline_bodies.h"

#include <gtest/gtest.h>

#include "graph/bodies.h"
#include "graph/ops/control_flow_testing.h"
#include "passes/graphs_testing.h"

namespace mete {
namespace {

Tensor Flag(bool value) { return Tensor::Of<bool>(DType::kBool, {}, std::span(&value, 1)); }
Tensor Number(int64_t value) { return Tensor::Of<int64_t>(DType::kI64, {}, std::span(&value, 1)); }

std::vector<float> Evaluated(const Graph& graph, size_t output = 0) {
  const std::vector<Tensor> inputs = RandomInputs(graph, 1);
  const Tensor result = EvaluateAll(graph, inputs)[size_t(graph.outputs[output])];
  return {result.as<float>(), result.as<float>() + result.elements()};
}

TEST(InlineBodies, AnIfOfAKnownConditionBecomesItsBranch) {
  for (const bool taken : {true, false}) {
    Builder b;
    const ValueId x = b.Input({2, 3});
    Graph& g = b.Output(b.Op("If", {b.graph.AddConstant("flag", Flag(taken)), x}, ReluOrNeg()));
    FoldConstants(g);
    Settle(g);
    ASSERT_EQ(g.nodes.size(), 1u);
    EXPECT_EQ(g.nodes[0].op, taken ? "Relu" : "Neg");
    EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{2, 3}));
  }
}

// A condition that follows from shapes, in a branch of another If.
TEST(InlineBodies, BranchesWithinBranches) {
  Builder b;
  const ValueId x = b.Input({2, 3});
  BodyBuilder inner;
  const ValueId y = inner.Input("y");
  const ValueId rank = inner.Op("Size", {inner.Op("Shape", {y})});
  const ValueId condition = inner.Op("Equal", {rank, inner.Constant("two", Number(2))});
  inner.Output(inner.Op("If", {condition, y}, ReluOrNeg()));
  Attributes a = ReluOrNeg();
  a.Set("then_branch", inner.Take());
  Graph& g = b.Output(b.Op("If", {b.graph.AddConstant("flag", Flag(true)), x}, a));
  FoldConstants(g);
  Settle(g);
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.nodes[0].op, "Relu");
}

TEST(InlineBodies, ALoopOfKnownRunsBecomesThem) {
  Builder b, expected;
  const ValueId x = b.Input({2, 3}), y = b.Input({2, 3});
  const ValueId sum = b.graph.AddValue("sum"), before = b.graph.AddValue("before");
  b.graph.AddNode("Loop", "loop", {b.graph.AddConstant("runs", Number(3)), kNoValue, x, y}, {sum, before},
                  AddingLoop());
  b.Output(sum);
  Graph& g = b.Output(before);
  FoldConstants(g);
  Settle(g);
  EXPECT_TRUE(
      std::none_of(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return IsControlFlow(n.op); }));
  EXPECT_EQ(g.value(g.outputs[1]).shape, (Shape{3, 2, 3}));
  const ValueId ex = expected.Input({2, 3}), ey = expected.Input({2, 3});
  const ValueId one = expected.Op("Add", {ex, ey}), two = expected.Op("Add", {one, ey});
  Graph& e = expected.Output(expected.Op("Add", {two, ey}));
  e.outputs.push_back(ex);
  e.outputs.push_back(two);
  FoldConstants(e);
  EXPECT_EQ(Evaluated(g), Evaluated(e));
  const std::vector<float> scans = Evaluated(g, 1), first = Evaluated(e, 1), last = Evaluated(e, 2);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), scans.begin()));
  EXPECT_TRUE(std::equal(last.begin(), last.end(), scans.end() - 6));
}

TEST(InlineBodies, LoopsOfManyOrUnknownRunsStay) {
  for (const bool many : {true, false}) {
    Builder b;
    const ValueId x = b.Input({2, 3}), y = b.Weight({2, 3});
    const ValueId flag = many ? kNoValue : b.graph.AddValue("flag", DType::kBool, {});
    if (!many) b.graph.inputs.push_back(flag);
    const ValueId sum = b.graph.AddValue("sum");
    b.graph.AddNode("Loop", "loop", {b.graph.AddConstant("runs", Number(many ? 100000 : 3)), flag, x, y},
                    {sum}, AddingLoop());
    Graph& g = b.Output(sum);
    FoldConstants(g);
    Settle(g);
    ASSERT_EQ(g.nodes.size(), 1u);
    // the weight is a constant of the body now
    EXPECT_EQ(g.nodes[0].inputs.size(), 3u);
    EXPECT_EQ(CapturesOf(g.nodes[0].attributes), 0u);
    const GraphPtr body = g.nodes[0].attributes.GraphOf("body");
    EXPECT_EQ(body->inputs.size(), 3u);
    EXPECT_EQ(ConstantBytes(*body), 24);
    EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{2, 3}));
  }
}

TEST(InlineBodies, NamesOfBodiesDoNotCollide) {
  Builder b;
  const ValueId x = b.Input({2});
  const ValueId flag = b.graph.AddConstant("flag", Flag(true));
  const ValueId one = b.graph.AddValue("one"), two = b.graph.AddValue("two");
  b.graph.AddNode("If", "if", {flag, x}, {one}, ReluOrNeg());
  b.graph.AddNode("Abs", "if/Relu0", {one}, {two});
  Graph& g = b.Output(two);
  FoldConstants(g);
  Settle(g);
  EXPECT_EQ(g.nodes.size(), 2u);
}

}  // namespace
}  // namespace mete
