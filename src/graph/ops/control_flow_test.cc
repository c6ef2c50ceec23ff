#include <gtest/gtest.h>

#include <array>

#include "graph/ops/control_flow_testing.h"
#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

const TestInput kFlag(DType::kBool, {});

Tensor Flag(bool value) { return Tensor::Of<bool>(DType::kBool, {}, std::span(&value, 1)); }
Tensor Number(int64_t value) { return Tensor::Of<int64_t>(DType::kI64, {}, std::span(&value, 1)); }

TEST(InferControlFlow, AnIfHasTheShapeThatItsBranchesShare) {
  EXPECT_EQ(InferText("If", ReluOrNeg(), {kFlag, Shape{2, 3}}), "f32 2x3");
  Attributes a = ReluOrNeg();
  a.Set("else_branch", UnaryBody("Shape"));
  EXPECT_EQ(InferText("If", a, {kFlag, Shape{2, 3}}),
            "error: [node] the branches give output 0 different types; got f32 and i64");
  a.Set("else_branch", UnaryBody("Transpose"));
  EXPECT_EQ(InferText("If", a, {kFlag, Shape{2, 3}}), "f32 ?");
  EXPECT_EQ(InferText("If", a, {Flag(false), Shape{2, 3}}), "f32 3x2");
}

// Exporters write an If around a Squeeze, for shapes with a 1 there and without.
TEST(InferControlFlow, ABranchThatDoesNotTakeTheShapesIsNotTaken) {
  const Attributes a = SqueezeOrNeg();
  EXPECT_EQ(InferText("If", a, {kFlag, Shape{1, 3}}), "f32 ?");
  EXPECT_EQ(InferText("If", a, {kFlag, Shape{2, 3}}), "f32 ?");
  EXPECT_EQ(InferText("If", a, {Flag(false), Shape{2, 3}}), "f32 2x3");
  EXPECT_TRUE(InferText("If", a, {Flag(true), Shape{2, 3}}).starts_with("error: [Squeeze0]"));
}

TEST(InferControlFlow, ALoopKnowsShapesThatStay) {
  const std::vector<TestInput> stays{Number(3), kFlag, Shape{2}, Shape{2}};
  EXPECT_EQ(InferText("Loop", AddingLoop(), stays, 2), "f32 2, f32 ?");
  EXPECT_EQ(InferText("Loop", AddingLoop(), {{}, {}, Shape{2}, Shape{2}}, 2), "f32 2, f32 ?");
  // x is broadcast to another shape by the first run
  EXPECT_EQ(InferText("Loop", AddingLoop(), {Number(3), kFlag, Shape{2}, Shape{3, 2}}, 2),
            "f32 ?, unknown ?");
}

TEST(InferControlFlow, AScanTakesValuesApartAndPutsThemTogether) {
  EXPECT_EQ(InferText("Scan", RunningSums(), {Shape{3}, Shape{5, 3}}, 2), "f32 3, f32 5x3");
  Attributes a = RunningSums();
  a.Set("scan_input_axes", Ints{-1});
  a.Set("scan_output_axes", Ints{-1});
  EXPECT_EQ(InferText("Scan", a, {Shape{3}, Shape{3, 5}}, 2), "f32 3, f32 3x5");
  a.Set("scan_input_axes", Ints{2});
  EXPECT_EQ(InferText("Scan", a, {Shape{3}, Shape{3, 5}}, 2),
            "error: [node] axis is out of range; got 2, expected -2 to 1");
}

TEST(InferControlFlow, SaysWhatDoesNotFit) {
  EXPECT_EQ(InferText("If", {}, {kFlag}), "error: [node] then_branch is missing; expected a graph");
  EXPECT_EQ(InferText("If", ReluOrNeg(), {Shape{}, Shape{2}}).substr(0, 24), "error: [node] input 0 ha");
  EXPECT_EQ(InferText("If", ReluOrNeg(), {kFlag, Shape{2}}, 2),
            "error: [node] then_branch has too few outputs; got 1, expected 2");
  EXPECT_EQ(InferText("Loop", AddingLoop(), {Number(1), kFlag, Shape{1}}),
            "error: [node] body has the wrong number of inputs; got 3, expected 2");
  EXPECT_EQ(InferText("Scan", RunningSums(), {Shape{3}, {Shape{5, 3}}, {Shape{1}}}),
            "error: [node] body has the wrong number of inputs; got 2, expected 3");
  Attributes a = RunningSums();
  a.Set("num_scan_inputs", int64_t(3));
  EXPECT_EQ(InferText("Scan", a, {Shape{3}, Shape{5, 3}}),
            "error: [node] num_scan_inputs is out of range; got 3, expected 1 to 2");
}

TEST(AppendBody, OutputsThatAreInputsOrEqualGetIdentities) {
  BodyBuilder b;
  const ValueId x = b.Input("x");
  const ValueId y = b.Op("Relu", {x});
  b.Output(x);
  b.Output(y);
  b.Output(y);
  const GraphPtr body = b.Take();
  Graph graph;
  NodeNames names;
  std::vector<ValueId> ids;
  for (const char* name : {"in", "a", "b", "c"}) ids.push_back(graph.AddValue(name, DType::kF32, Shape{2}));
  graph.inputs = {ids[0]};
  graph.outputs = {ids[1], ids[2], ids[3]};
  AppendBody(graph, *body, std::span(ids).first(1), std::span(ids).last(3), "if", names);
  SortTopologically(graph);
  Verify(graph);
  EXPECT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].op, "Relu");
  EXPECT_EQ(graph.nodes[0].outputs[0], ids[2]);
}

}  // namespace
}  // namespace mete
