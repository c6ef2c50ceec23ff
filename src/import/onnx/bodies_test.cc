// Subgraphs of ONNX files as bodies.
#include <gtest/gtest.h>

#include "graph/bodies.h"
#include "import/onnx/models_testing.h"

namespace mete {
namespace {

TEST(ImportBodies, WhatBranchesReadIsInputsOfTheNode) {
  const Graph g = Import(IfModel()).graph;
  ASSERT_EQ(g.nodes.size(), 1u);
  const Node& node = g.nodes[0];
  EXPECT_EQ(CapturesOf(node.attributes), 2u);
  ASSERT_EQ(node.inputs.size(), 3u);
  EXPECT_EQ(g.value(node.inputs[1]).name, "x");
  EXPECT_EQ(g.value(node.inputs[2]).name, "y");
  for (const std::string_view name : BodyNames("If")) {
    const GraphPtr body = node.attributes.GraphOf(name);
    ASSERT_TRUE(body);
    EXPECT_EQ(body->inputs.size(), 2u);
    EXPECT_EQ(body->value(body->inputs[0]).name, "x");
    EXPECT_EQ(body->value(body->inputs[1]).name, "y");
  }
  // the initializer is a constant of the branch, and the same memory
  const GraphPtr add = node.attributes.GraphOf("then_branch");
  EXPECT_EQ(ValueNamed(*add, "w").constant.data(), ValueNamed(g, "w").constant.data());
}

TEST(ImportBodies, RawDataOfSubgraphsStaysInTheFile) {
  ModelProto m = IfModel();
  GraphProto& then = *m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  TensorProto& t = *then.add_initializer();
  t.set_name("inner");
  t.set_data_type(TensorProto::FLOAT);
  t.add_dims(2);
  t.set_raw_data(RawOf<float>({3, 4}));
  then.mutable_node(0)->set_input(1, "inner");
  const GraphPtr body = Import(m).graph.nodes[0].attributes.GraphOf("then_branch");
  EXPECT_EQ(ValueNamed(*body, "inner").constant.as<float>()[1], 4);
}

TEST(ImportBodies, SubgraphsWithinSubgraphsReadThroughThoseAroundThem) {
  ModelProto m = IfModel();
  GraphProto& then = *m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  then.clear_node();
  NodeProto& inner = AddTo(then, "If", {"c"}, {"sum"}, "inner");
  AddTo(AddSubgraph(inner, "then_branch", {"a"}), "Add", {"x", "y"}, {"a"}, "deep");
  AddTo(AddSubgraph(inner, "else_branch", {"a"}), "Relu", {"x"}, {"a"}, "deep");
  const Graph g = Import(m).graph;
  EXPECT_EQ(CapturesOf(g.nodes[0].attributes), 3u);  // c, x and y
  const GraphPtr body = g.nodes[0].attributes.GraphOf("then_branch");
  EXPECT_EQ(CapturesOf(body->nodes[0].attributes), 2u);
  EXPECT_EQ(body->nodes[0].inputs.size(), 3u);
}

// The value is made behind the node in the file, and a name of the graph means another value in the branch.
TEST(ImportBodies, NamesAreThoseOfTheInnermostGraph) {
  ModelProto m = IfModel();
  AddOp(m, "Abs", {"x"}, {"late"}, "abs");
  GraphProto& then = *m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  then.clear_node();
  AddTo(then, "Relu", {"late"}, {"y"}, "relu");
  AddTo(then, "Neg", {"y"}, {"sum"}, "neg");
  const Graph g = Import(m).graph;
  ASSERT_EQ(g.nodes.size(), 2u);
  EXPECT_EQ(g.nodes[0].op, "Abs");
  const GraphPtr body = g.nodes[1].attributes.GraphOf("then_branch");
  EXPECT_EQ(body->nodes[1].inputs[0], body->nodes[0].outputs[0]);
}

TEST(ImportBodies, ALoopMayLeaveOutItsConditionAndWriteScalarsInTwoWays) {
  ModelProto m = EmptyModel(16);
  AddInput(m, "n", {}, {}, TensorProto::INT64);
  AddInput(m, "x", {2});
  NodeProto& node = AddOp(m, "Loop", {"n", "", "x"}, {"y"}, "loop");
  GraphProto& body = AddSubgraph(node, "body", {"go", "next"});
  for (const char* name : {"i", "go", "value"}) body.add_input()->set_name(name);
  body.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(1);
  AddTo(body, "Relu", {"value"}, {"next"}, "relu");
  AddOutput(m, "y");
  const Graph g = Import(m).graph;
  const GraphPtr loop = g.nodes[0].attributes.GraphOf("body");
  EXPECT_EQ(loop->value(loop->inputs[0]).shape, Shape{1});
  EXPECT_EQ(loop->value(loop->inputs[1]).shape, Shape{});
  EXPECT_EQ(g.nodes[0].inputs[1], kNoValue);
}

// The function's input is captured by a subgraph, whose attribute refers to one of the function.
TEST(ImportBodies, FunctionsMayHaveSubgraphs) {
  ModelProto m = EmptyModel(16);
  AddInput(m, "c", {}, {}, TensorProto::BOOL);
  AddInput(m, "x", {2});
  m.add_opset_import()->set_domain("own");
  auto& f = *m.add_functions();
  f.set_name("Choice");
  f.set_domain("own");
  f.add_input("flag");
  f.add_input("value");
  f.add_output("result");
  f.add_attribute("slope");
  NodeProto& node = *f.add_node();
  node.set_op_type("If");
  node.add_input("flag");
  node.add_output("result");
  auto* slope = AddTo(AddSubgraph(node, "then_branch", {"a"}), "LeakyRelu", {"value"}, {"a"}).add_attribute();
  slope->set_name("alpha");
  slope->set_ref_attr_name("slope");
  slope->set_type(AttributeProto::FLOAT);
  AddTo(AddSubgraph(node, "else_branch", {"b"}), "Relu", {"value"}, {"b"});
  NodeProto& call = AddOp(m, "Choice", {"c", "x"}, {"y"});
  call.set_domain("own");
  AddFloat(call, "slope", 0.25f);
  AddOutput(m, "y");
  const Graph g = Import(m).graph;
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.value(g.nodes[0].inputs.at(1)).name, "x");
  EXPECT_EQ(g.nodes[0].attributes.GraphOf("then_branch")->nodes[0].attributes.Float("alpha", 0), 0.25f);
}

TEST(ImportBodies, SaysWhatIsWrong) {
  ModelProto missing = IfModel();
  missing.mutable_graph()->mutable_node(0)->mutable_attribute()->RemoveLast();
  EXPECT_TRUE(
      Contains(ImportError(missing), "[choice] attribute 'else_branch' is missing; expected a graph"));

  ModelProto nowhere = IfModel();
  nowhere.mutable_graph()->mutable_node(0)->mutable_attribute(1)->mutable_g()->mutable_node(0)->set_input(
      0, "q");
  EXPECT_TRUE(Contains(ImportError(nowhere), "[choice] input 'q' is made by no node"));

  ModelProto unknown = IfModel();
  unknown.mutable_graph()->mutable_node(0)->mutable_attribute(1)->mutable_g()->mutable_node(0)->set_op_type(
      "What");
  EXPECT_TRUE(
      Contains(ImportError(unknown), "operator What: Mete does not have it (1 time, first at 'neg')"));

  ModelProto twice = IfModel();
  GraphProto& g = *twice.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  AddTo(g, "Relu", {"x"}, {"sum"}, "again");
  EXPECT_TRUE(Contains(ImportError(twice), "[again] makes 'sum', which is made elsewhere already"));
}

TEST(ImportBodies, DepthHasABound) {
  ModelProto m = EmptyModel(16);
  AddInput(m, "c", {}, {}, TensorProto::BOOL);
  NodeProto* node = &AddOp(m, "If", {"c"}, {"z"}, "level0");
  for (int level = 1; level < 200; ++level) {
    AddSubgraph(*node, "else_branch", {"c"});
    node =
        &AddTo(AddSubgraph(*node, "then_branch", {"z"}), "If", {"c"}, {"z"}, "level" + std::to_string(level));
  }
  AddOutput(m, "z");
  EXPECT_TRUE(StartsWith(ImportError(m), "DATA_LOSS: "));  // protobuf does not parse it either
}

}  // namespace
}  // namespace mete
