#include "passes/loop_invariants.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/bodies.h"
#include "graph/ops/control_flow_testing.h"
#include "passes/inline_bodies.h"
#include "passes/graphs_testing.h"

namespace mete {
namespace {

Tensor Number(int64_t value) { return Tensor::Of<int64_t>(DType::kI64, {}, std::span(&value, 1)); }

// (run, condition, state, w, x) -> (condition, state + x w, w, x), with w behind an Identity.
Attributes MultiplyingBody() {
  BodyBuilder b;
  b.Input("run");
  const ValueId condition = b.Input("condition"), state = b.Input("state"), w = b.Input("w"),
                x = b.Input("x");
  const ValueId product = b.Op("MatMul", {x, w});
  b.Output(b.Op("Identity", {condition}));
  b.Output(b.Op("Add", {state, product}));
  b.Output(b.Op("Identity", {w}));
  b.Output(x);
  Attributes a;
  a.Set("body", b.Take());
  return a;
}

const Node& LoopOf(const Graph& graph) {
  return *std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return n.op == "Loop"; });
}

// A Loop of `runs`, more than become nodes of their own, whose weights are a constant or an input.
Graph& MultiplyingLoop(Builder& b, bool constant, int64_t runs = 2000) {
  const ValueId state = b.Input({2, 4}), x = b.Input({2, 3}),
                w = constant ? b.Weight({3, 4}) : b.Input({3, 4});
  std::vector<ValueId> outputs;
  for (const char* name : {"state_after", "w_after", "x_after"}) outputs.push_back(b.graph.AddValue(name));
  b.graph.AddNode("Loop", "loop", {b.graph.AddConstant("runs", Number(runs)), kNoValue, state, w, x}, outputs,
                  MultiplyingBody());
  b.Output(outputs[0]);
  b.Output(b.Op("Relu", {outputs[1]}));
  Graph& g = b.Output(outputs[2]);
  InferShapes(g);
  return g;
}

// The outputs with a node for each run's nodes, whose number is small.
std::vector<Tensor> Unrolled(Graph graph, bool moves) {
  EXPECT_TRUE(!moves || MoveLoopInvariants(graph));
  EXPECT_TRUE(InlineBodies(graph));
  InferShapes(graph);
  Settle(graph);
  return Evaluate(graph);
}

TEST(MoveLoopInvariants, GivesTheSameForAnyNumberOfRuns) {
  for (const int64_t runs : {7, 1, 0}) {
    Builder b;
    const Graph& g = MultiplyingLoop(b, false, runs);
    const std::vector<Tensor> before = Unrolled(g, false), after = Unrolled(g, true);
    ASSERT_EQ(before.size(), after.size());
    for (size_t o = 0; o < before.size(); ++o) {
      ASSERT_EQ(before[o].shape(), after[o].shape());
      for (int64_t i = 0; i < before[o].elements(); ++i)
        EXPECT_EQ(before[o].as<float>()[i], after[o].as<float>()[i]) << runs << " runs, output " << o;
    }
  }
}

TEST(MoveLoopInvariants, AProductOfWhatDoesNotChangeStandsBeforeTheLoop) {
  Builder b;
  Graph& g = MultiplyingLoop(b, false);
  EXPECT_TRUE(MoveLoopInvariants(g));
  InferShapes(g);
  Settle(g);
  EXPECT_EQ(CountOf(g, "MatMul"), 1) << ToText(g);
  const Node& loop = LoopOf(g);
  // The number of runs, the condition, the state, and the product.
  EXPECT_EQ(loop.inputs.size(), 4u);
  EXPECT_EQ(CapturesOf(loop.attributes), 1u);
  EXPECT_EQ(loop.outputs.size(), 1u);
  EXPECT_EQ(CountOf(*loop.attributes.GraphOf("body"), "MatMul"), 0);
  EXPECT_FALSE(MoveLoopInvariants(g)) << "there is nothing more to move";
}

// What a Loop hands on may be an input, an output, or a constant of the graph, or be handed on twice.
TEST(MoveLoopInvariants, OutputsOfTheGraphKeepTheirNames) {
  for (const bool constant : {false, true}) {
    Builder b;
    Graph& g = MultiplyingLoop(b, constant);
    g.outputs.push_back(LoopOf(g).outputs[1]);
    g.outputs.push_back(g.inputs[1]);
    std::vector<std::string> before, after;
    for (const ValueId id : g.outputs) before.push_back(g.value(id).name);
    for (const ValueId id : g.inputs) before.push_back(g.value(id).name);
    EXPECT_TRUE(MoveLoopInvariants(g));
    InferShapes(g);
    Settle(g);
    for (const ValueId id : g.outputs) after.push_back(g.value(id).name);
    for (const ValueId id : g.inputs) after.push_back(g.value(id).name);
    EXPECT_EQ(after, before);
  }
}

TEST(MoveLoopInvariants, WeightsAreConstantsBehindTheFolding) {
  Builder b;
  Graph& g = MultiplyingLoop(b, true);
  FoldConstants(g);
  Settle(g);
  EXPECT_EQ(CountOf(g, "MatMul"), 1) << ToText(g);
  EXPECT_EQ(CapturesOf(LoopOf(g).attributes), 1u) << "the product";
}

// A body of the captures x, y and z, whose state becomes the result of `make`.
Attributes CapturingBody(
    const std::function<ValueId(BodyBuilder&, ValueId state, std::vector<ValueId>)>& make) {
  BodyBuilder body;
  body.Input("run");
  const ValueId condition = body.Input("condition"), state = body.Input("state");
  const std::vector<ValueId> captures = {body.Input("x"), body.Input("y"), body.Input("z")};
  body.Output(body.Op("Identity", {condition}));
  body.Output(make(body, state, captures));
  Attributes attributes;
  attributes.Set("body", body.Take());
  attributes.Set(kCaptures, int64_t(3));
  return attributes;
}

Graph& CapturingLoop(Builder& b, const std::vector<Shape>& shapes, Attributes attributes,
                     int64_t runs = 2000) {
  std::vector<ValueId> inputs = {b.graph.AddConstant("runs", Number(runs)), kNoValue};
  for (const Shape& shape : shapes) inputs.push_back(b.Input(shape));
  const ValueId after = b.graph.AddValue("after");
  b.graph.AddNode("Loop", "loop", std::move(inputs), {after}, std::move(attributes));
  Graph& g = b.Output(after);
  InferShapes(g);
  return g;
}

// The whole chain moves at once.
TEST(MoveLoopInvariants, AChainMovesAtOnce) {
  Builder b;
  Graph& g = CapturingLoop(b, {{2, 4}, {2, 3}, {3, 4}, {4}},
                           CapturingBody([](BodyBuilder& body, ValueId state, std::vector<ValueId> c) {
                             const ValueId product = body.Op("MatMul", {c[0], c[1]});
                             return body.Op("Add", {state, body.Op("Add", {product, c[2]})});
                           }));
  EXPECT_TRUE(MoveLoopInvariants(g));
  InferShapes(g);
  Settle(g);
  EXPECT_EQ(CountOf(g, "MatMul") + CountOf(g, "Add"), 2) << ToText(g);
  EXPECT_EQ(LoopOf(g).inputs.size(), 4u) << ToText(g);
}

// A result that is larger than its operands is sooner computed again than read.
TEST(MoveLoopInvariants, LeavesSumsThatAreLargerThanTheirOperands) {
  Builder b;
  Graph& g = CapturingLoop(b, {{4, 5}, {4, 1}, {1, 5}, {1}},
                           CapturingBody([](BodyBuilder& body, ValueId state, std::vector<ValueId> c) {
                             return body.Op("Add", {state, body.Op("Sub", {c[0], c[1]})});
                           }));
  EXPECT_FALSE(MoveLoopInvariants(g));
}

// A state that changes, a value that takes the place of another one, and a product of the state.
TEST(MoveLoopInvariants, LeavesWhatChanges) {
  BodyBuilder body;
  body.Input("run");
  const ValueId condition = body.Input("condition"), a = body.Input("a"), c = body.Input("c");
  body.Output(body.Op("Identity", {condition}));
  body.Output(body.Op("Identity", {c}));
  body.Output(body.Op("MatMul", {a, c}));
  Attributes attributes;
  attributes.Set("body", body.Take());
  Builder b;
  const ValueId x = b.Input({3, 3}), y = b.Input({3, 3}), first = b.graph.AddValue("first"),
                second = b.graph.AddValue("second");
  b.graph.AddNode("Loop", "loop", {b.graph.AddConstant("runs", Number(2)), kNoValue, x, y}, {first, second},
                  attributes);
  b.Output(first);
  Graph& g = b.Output(second);
  InferShapes(g);
  EXPECT_FALSE(MoveLoopInvariants(g));
}

// Operators whose operands do not fit together are errors of the first run, which may never come; and others
// than products and sums are left where they are.
TEST(MoveLoopInvariants, LeavesWhatMayFailAndOtherOperators) {
  const auto moves = [](const char* op, const std::vector<Shape>& shapes) {
    Builder b;
    Attributes a = CapturingBody([&](BodyBuilder& body, ValueId state, std::vector<ValueId> c) {
      return body.Op("Add",
                     {state, body.Op(op, std::string_view(op) == "Relu" ? std::vector<ValueId>{c[0]}
                                                                        : std::vector<ValueId>{c[0], c[1]})});
    });
    std::vector<ValueId> inputs = {b.graph.AddConstant("runs", Number(2000)), kNoValue};
    for (const Shape& shape : shapes) inputs.push_back(b.Input(shape));
    b.graph.AddNode("Loop", "loop", std::move(inputs), {b.graph.AddValue("after")}, std::move(a));
    return MoveLoopInvariants(b.graph);
  };
  EXPECT_TRUE(moves("MatMul", {{2, 2}, {2, 3}, {3, 2}, {1}}));
  EXPECT_FALSE(moves("MatMul", {{2, 2}, {2, 3}, {2, 2}, {1}}));
  EXPECT_FALSE(moves("Relu", {{2, 3}, {2, 3}, {2, 3}, {1}}));
}

// Importers keep outputs without a name, and inputs that are left out.
TEST(MoveLoopInvariants, TakesNodesWithoutOutputsAndInputs) {
  BodyBuilder body;
  body.Input("run");
  const ValueId condition = body.Input("condition"), state = body.Input("state"), x = body.Input("x");
  body.Output(body.Op("Identity", {condition}));
  body.Output(body.Op("Identity", {kNoValue}));
  GraphPtr made = body.Take();
  auto graph = std::make_shared<Graph>(*made);
  graph->AddNode("MatMul", "unnamed", {x, x}, {kNoValue});
  (void)state;
  Attributes attributes;
  attributes.Set("body", GraphPtr(graph));
  attributes.Set(kCaptures, int64_t(1));
  Builder b;
  b.graph.AddNode("Loop", "loop",
                  {b.graph.AddConstant("runs", Number(2000)), kNoValue, b.Input({3}), b.Input({3, 3})},
                  {b.graph.AddValue("after")}, attributes);
  EXPECT_FALSE(MoveLoopInvariants(b.graph));
}

}  // namespace
}  // namespace mete
