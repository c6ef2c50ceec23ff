// Bodies of control flow as subgraphs of the file.
#include "base/errors_testing.h"
#include "export/onnx/onnx_file.h"
#include "graph/bodies.h"
#include "import/onnx/models_testing.h"

namespace mete {
namespace {

::onnx::GraphProto WrittenOf(const Graph& graph) {
  ::onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(OnnxFileOf(graph)));
  return model.graph();
}

const ::onnx::GraphProto& SubgraphOf(const ::onnx::NodeProto& node, const std::string& name) {
  for (const auto& a : node.attribute())
    if (a.name() == name) return a.g();
  ADD_FAILURE() << "no " << name;
  return ::onnx::GraphProto::default_instance();
}

TEST(OnnxFileBodies, ComeBackAsTheyWere) {
  const Graph g = ImportBytes(OnnxFileOf(Import(IfModel()).graph)).graph;
  ASSERT_EQ(g.nodes.size(), 1u);
  const Node& node = g.nodes[0];
  EXPECT_EQ(node.op, "If");
  EXPECT_EQ(CapturesOf(node.attributes), 2u);
  ASSERT_EQ(node.inputs.size(), 3u);
  EXPECT_EQ(g.value(node.inputs[1]).name, "x");
  EXPECT_EQ(g.value(node.inputs[2]).name, "y");
  const GraphPtr then = node.attributes.GraphOf("then_branch"),
                 other = node.attributes.GraphOf("else_branch");
  ASSERT_EQ(then->nodes.size(), 1u);
  EXPECT_EQ(then->nodes[0].name, "add");
  EXPECT_EQ(then->nodes[0].inputs[0], then->inputs[0]);
  const Tensor& w = then->value(then->nodes[0].inputs[1]).constant;
  ASSERT_EQ(w.shape(), Shape{2});
  EXPECT_EQ(w.as<float>()[1], 2);
  ASSERT_EQ(other->nodes.size(), 1u);
  EXPECT_EQ(other->nodes[0].op, "Neg");
  EXPECT_EQ(other->nodes[0].inputs[0], other->inputs[1]);
}

// A file names captures as the graph around the body does, and neither as parameters nor as inputs.
TEST(OnnxFileBodies, CapturesAreReadByName) {
  const ::onnx::GraphProto written = WrittenOf(Import(IfModel()).graph);
  EXPECT_EQ(written.node(0).input_size(), 1);
  const ::onnx::GraphProto& then = SubgraphOf(written.node(0), "then_branch");
  EXPECT_EQ(then.input_size(), 0);
  EXPECT_EQ(then.node(0).input(0), "x");
  for (const auto& a : written.node(0).attribute()) EXPECT_NE(a.name(), kCaptures);
}

// A Loop of n runs: s -> s + x, with s of each run.
ModelProto LoopModel() {
  ModelProto m = EmptyModel(16);
  AddInput(m, "n", {}, {}, TensorProto::INT64);
  AddInput(m, "x", {2});
  NodeProto& node = AddOp(m, "Loop", {"n", "", "x"}, {"last", "each"}, "loop");
  GraphProto& body = AddSubgraph(node, "body", {"c", "next", "s"});
  for (const char* name : {"i", "c", "s"}) body.add_input()->set_name(name);
  AddTo(body, "Add", {"s", "x"}, {"next"}, "add");
  AddOutput(m, "last");
  AddOutput(m, "each");
  return m;
}

TEST(OnnxFileBodies, KeepTheParametersOfOnnx) {
  const ::onnx::GraphProto written = WrittenOf(Import(LoopModel()).graph);
  EXPECT_EQ(written.node(0).input_size(), 3);
  EXPECT_EQ(written.node(0).input(1), "");
  const ::onnx::GraphProto& body = SubgraphOf(written.node(0), "body");
  ASSERT_EQ(body.input_size(), 3);
  EXPECT_EQ(body.node(0).input(0), body.input(2).name());
  EXPECT_EQ(body.node(0).input(1), "x");
  EXPECT_EQ(written.output(0).type().tensor_type().elem_type(), TensorProto::FLOAT);
  EXPECT_EQ(written.output(1).type().tensor_type().elem_type(), TensorProto::FLOAT);
}

// The condition and the state that the body gives as they came, and a value that it gives twice.
TEST(OnnxFileBodies, GiveDifferentValuesThatTheirNodesCompute) {
  ModelProto m = LoopModel();
  NodeProto& loop = *m.mutable_graph()->mutable_node(0);
  loop.add_output("again");
  loop.mutable_attribute(0)->mutable_g()->add_output()->set_name("next");
  AddOutput(m, "again");
  const Graph g = Import(m).graph;
  const ::onnx::GraphProto written = WrittenOf(g);
  const ::onnx::GraphProto& body = SubgraphOf(written.node(0), "body");
  std::set<std::string> computed, outputs;
  for (const auto& node : body.node()) computed.insert(node.output(0));
  for (const auto& output : body.output()) {
    EXPECT_TRUE(computed.contains(output.name())) << output.name();
    outputs.insert(output.name());
  }
  EXPECT_EQ(outputs.size(), 4u);
  EXPECT_EQ(g.nodes[0].attributes.GraphOf("body")->nodes.size(), 1u);  // the graph itself has not changed
}

// A constant, and a value of the graph around the body.
TEST(OnnxFileBodies, ComputeOutputsThatAreNotTheirs) {
  ModelProto m = IfModel();
  for (const auto& [branch, name] : {std::pair(0, "w"), std::pair(1, "y")}) {
    GraphProto& g = *m.mutable_graph()->mutable_node(0)->mutable_attribute(branch)->mutable_g();
    g.clear_node();
    g.mutable_output(0)->set_name(name);
  }
  const ::onnx::GraphProto written = WrittenOf(Import(m).graph);
  for (const auto& [name, from] : {std::pair("then_branch", "w"), std::pair("else_branch", "y")}) {
    const ::onnx::GraphProto& body = SubgraphOf(written.node(0), name);
    ASSERT_EQ(body.node_size(), 1);
    EXPECT_EQ(body.node(0).op_type(), "Identity");
    EXPECT_EQ(body.node(0).input(0), from);
    EXPECT_EQ(body.node(0).output(0), body.output(0).name());
  }
}

// Both branches and the graph around them read the same weights.
TEST(OnnxFileBodies, ShareConstants) {
  ModelProto m = IfModel();
  GraphProto& other = *m.mutable_graph()->mutable_node(0)->mutable_attribute(1)->mutable_g();
  other.clear_node();
  AddTo(other, "Sub", {"y", "w"}, {"negative"}, "sub");
  AddOp(m, "Mul", {"z", "w"}, {"scaled"}, "mul");
  AddOutput(m, "scaled");
  const ::onnx::GraphProto written = WrittenOf(Import(m).graph);
  ASSERT_EQ(written.initializer_size(), 1);
  const std::string w = written.initializer(0).name();
  EXPECT_EQ(written.node(1).input(1), w);
  for (const char* name : {"then_branch", "else_branch"}) {
    const ::onnx::GraphProto& body = SubgraphOf(written.node(0), name);
    EXPECT_EQ(body.initializer_size(), 0);
    EXPECT_EQ(body.node(0).input(1), w);
  }
}

// ONNX cannot tell the type of a condition that the Loop does not have.
TEST(OnnxFileBodies, SayWhatIsKnownOfTheirParameters) {
  ModelProto m = LoopModel();
  auto& number = *m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_input(0);
  number.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  number.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(1);
  const ::onnx::GraphProto written = WrittenOf(Import(m).graph);
  const ::onnx::GraphProto& body = SubgraphOf(written.node(0), "body");
  EXPECT_EQ(body.input(0).type().tensor_type().elem_type(), TensorProto::INT64);
  EXPECT_EQ(body.input(0).type().tensor_type().shape().dim_size(), 1);
  EXPECT_EQ(body.input(1).type().tensor_type().elem_type(), TensorProto::BOOL);
  EXPECT_EQ(body.input(1).type().tensor_type().shape().dim_size(), 0);
  EXPECT_FALSE(body.name().empty());
}

// An If in a Loop reads a value of the outermost graph, and gives the state that it got.
TEST(OnnxFileBodies, ReadValuesThroughSeveralLevels) {
  ModelProto m = LoopModel();
  AddInput(m, "flag", {}, {}, TensorProto::BOOL);
  GraphProto& body = *m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  body.clear_node();
  NodeProto& inner = AddTo(body, "If", {"flag"}, {"next"}, "inner");
  AddTo(AddSubgraph(inner, "then_branch", {"sum"}), "Add", {"s", "x"}, {"sum"}, "add");
  AddSubgraph(inner, "else_branch", {"s"});
  const ::onnx::GraphProto written = WrittenOf(Import(m).graph);
  const ::onnx::GraphProto& loop = SubgraphOf(written.node(0), "body");
  const auto choice = std::find_if(loop.node().begin(), loop.node().end(),
                                   [](const auto& node) { return node.op_type() == "If"; });
  ASSERT_NE(choice, loop.node().end());
  const ::onnx::GraphProto &then = SubgraphOf(*choice, "then_branch"),
                           &other = SubgraphOf(*choice, "else_branch");
  EXPECT_EQ(then.node(0).input(0), loop.input(2).name());
  EXPECT_EQ(then.node(0).input(1), "x");
  EXPECT_EQ(other.node(0).op_type(), "Identity");
  EXPECT_EQ(other.node(0).input(0), loop.input(2).name());
  EXPECT_EQ(written.output(0).type().tensor_type().elem_type(), TensorProto::FLOAT);
}

// Names of ONNX hold in all subgraphs, and a Graph may have the same in several.
TEST(OnnxFileBodies, HaveNamesThatOccurNowhereElse) {
  Graph g = Import(IfModel()).graph;
  for (const std::string_view name : BodyNames("If")) {
    auto body = std::make_shared<Graph>(*g.nodes[0].attributes.GraphOf(name));
    body->value(body->outputs[0]).name = "z";  // as the output of the If
    g.nodes[0].attributes.Set(name, GraphPtr(std::move(body)));
  }
  const ::onnx::GraphProto written = WrittenOf(g);
  const std::set<std::string> names = {written.output(0).name(),
                                       SubgraphOf(written.node(0), "then_branch").output(0).name(),
                                       SubgraphOf(written.node(0), "else_branch").output(0).name()};
  EXPECT_EQ(names.size(), 3u);
  EXPECT_EQ(ImportBytes(OnnxFileOf(g)).graph.nodes.size(), 1u);
}

TEST(OnnxFileBodies, HaveAPartInTheOpsetAndInTheProblems) {
  Graph g = Import(IfModel()).graph;
  const auto with = [&](const std::string& op) {
    auto body = std::make_shared<Graph>(*g.nodes[0].attributes.GraphOf("else_branch"));
    body->nodes[0].op = op;
    g.nodes[0].attributes.Set("else_branch", GraphPtr(std::move(body)));
  };
  EXPECT_EQ(OpsetOf(g), 13);
  with("HardSwish");
  EXPECT_EQ(OpsetOf(g), 14);
  with("mete.ByteTable");
  EXPECT_TELLS(OnnxFileOf(g), "[neg] ONNX has no operator for it; got mete.ByteTable");
}

}  // namespace
}  // namespace mete
