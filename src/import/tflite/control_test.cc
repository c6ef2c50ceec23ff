// IF and WHILE: what becomes of their subgraphs, and which are refused. tests/tflite_operators_test.cc
// compares what they give.
#include "base/errors_testing.h"
#include "graph/bodies.h"
#include "import/tflite/models_testing.h"

namespace mete {
namespace {

using Model = TfliteModel;
using Code = Model::Code;
using Type = Model::Type;
using Kind = Model::Kind;

// A subgraph of one operator that makes `type` of two tensors of 3 numbers.
int Binary(Model& m, Code code, Type type = Type::FLOAT32) {
  const int a = m.Input({3}), b = m.Input({3});
  m.outputs = {m.Op(code, {a, b}, Kind::NONE, flatbuffers::Offset<void>(), {m.Value({3}, type)})};
  return m.EndSubgraph();
}

int If(Model& m, const std::vector<int>& inputs, int then_graph, int else_graph) {
  return m.Op(Code::IF, inputs, Kind::IfOptions, tflite::CreateIfOptions(m.builder, then_graph, else_graph));
}

TEST(TfliteIf, ConstantsAreThoseOfItsBranches) {
  Model m;
  const int larger = Binary(m, Code::MAXIMUM), smaller = Binary(m, Code::MINIMUM);
  const int choice = m.Input({}, Type::BOOL), x = m.Input({3});
  m.outputs = {If(m, {choice, x, m.Floats({3}, {1, 2, 3})}, larger, smaller)};
  const Graph g = ImportBytes(m.Finish()).graph;
  ASSERT_EQ(g.nodes.size(), 1u) << ToText(g);
  EXPECT_EQ(g.nodes[0].op, "If");
  EXPECT_EQ(g.nodes[0].inputs, g.inputs);
  EXPECT_EQ(CapturesOf(g.nodes[0].attributes), 1u);
  EXPECT_EQ(Describe(g.value(g.outputs[0])), "f32 3");
}

// While x < 100: x = x * y. The second value is the same in each run.
TEST(TfliteWhile, ValuesThatAreTheSameInEachRunAreNotCarried) {
  Model m;
  const auto add = [&](Code code, const std::vector<int>& in, const std::vector<int>& out) {
    return m.Op(code, in, Kind::NONE, flatbuffers::Offset<void>(), out);
  };
  int x = m.Input({1}), y = m.Input({1});
  m.outputs = {add(Code::LESS, {x, m.Floats({1}, {100})}, {m.Value({1}, Type::BOOL)})};
  const int condition = m.EndSubgraph();
  x = m.Input({1});
  y = m.Input({1});
  m.outputs = {m.Op(Code::MUL, {x, y}), y};
  const int body = m.EndSubgraph();
  x = m.Input({1});
  y = m.Input({1});
  const std::vector<int> out = {m.Value({1}), m.Value({1})};
  m.Op(Code::WHILE, {x, y}, Kind::WhileOptions, tflite::CreateWhileOptions(m.builder, condition, body), out);
  m.outputs = out;
  const Graph g = ImportBytes(m.Finish()).graph;
  const auto loop =
      std::find_if(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return n.op == "Loop"; });
  ASSERT_NE(loop, g.nodes.end()) << ToText(g);
  EXPECT_EQ(loop->outputs.size(), 1u);
  EXPECT_EQ(CapturesOf(loop->attributes), 1u);
  EXPECT_EQ(Describe(g.value(g.outputs[0])), "f32 1");
  EXPECT_EQ(Describe(g.value(g.outputs[1])), "f32 1");
}

TEST(TfliteIf, ChecksItsSubgraphs) {
  const auto read = [](int then_graph, int more_inputs, Type type) {
    Model m;
    Binary(m, Code::MAXIMUM);
    const int flag = m.Input({}, Type::BOOL), x = m.Input({3}, type);
    std::vector<int> inputs = {flag, x, x};
    for (int i = 0; i < more_inputs; ++i) inputs.push_back(x);
    return ImportOutput(m, If(m, inputs, then_graph, 1));
  };
  EXPECT_NO_THROW(read(1, 0, Type::FLOAT32));
  EXPECT_TELLS(read(2, 0, Type::FLOAT32), "there is no subgraph 2 that it may run; expected 1 to 1");
  EXPECT_TELLS(read(0, 0, Type::FLOAT32), "there is no subgraph 0 that it may run; expected 1 to 1");
  EXPECT_TELLS(read(-1, 0, Type::FLOAT32), "there is no subgraph -1 that it may run; expected 1 to 1");
  EXPECT_TELLS(read(1, 1, Type::FLOAT32),
               "a subgraph of IF has the wrong numbers of inputs and outputs; got 2 and 1, expected 3 and 1");
  EXPECT_TELLS(read(1, 0, Type::INT32), "a subgraph gets another type than it says; got i32, expected f32");
}

TEST(TfliteIf, TellsWhatMeteLacksInItsSubgraphs) {
  Model m;
  const int other = Binary(m, Code::MAXIMUM), lacking = Binary(m, Code::HASHTABLE_LOOKUP);
  const int flag = m.Input({}, Type::BOOL), x = m.Input({3});
  const std::string problem = ErrorOf([&] { ImportOutput(m, If(m, {flag, x, x}, other, lacking)); });
  for (const char* part : {"unsupported operator HASHTABLE_LOOKUP: Mete does not have it",
                           "unsupported operator IF: Mete lacks a part of its subgraph"})
    EXPECT_NE(problem.find(part), problem.npos) << problem;
}

TEST(TfliteWhile, ChecksItsSubgraphs) {
  Model m;
  const int condition = Binary(m, Code::LESS, Type::BOOL), body = Binary(m, Code::MAXIMUM);
  const int x = m.Input({3});
  const std::vector<int> out = {m.Value({3}), m.Value({3})};
  m.Op(Code::WHILE, {x, x}, Kind::WhileOptions, tflite::CreateWhileOptions(m.builder, condition, body), out);
  EXPECT_TELLS(
      ImportOutput(m, out[0]),
      "a subgraph of WHILE has the wrong numbers of inputs and outputs; got 2 and 1, expected 2 and 2");
}

// Subgraph i runs subgraph i + 1 twice; the last one runs `last`.
Imported ReadChain(int length, int last, bool twice) {
  Model m;
  for (int i = 1; i <= length; ++i) {
    const int flag = m.Input({}, Type::BOOL), x = m.Input({3}), next = i < length ? i + 1 : last;
    int y = next == 0 ? m.Op(Code::RELU, {x}) : If(m, {flag, flag, x}, next, next);
    if (twice && next != 0) y = If(m, {flag, flag, y}, next, next);
    m.outputs = {y};
    m.EndSubgraph();
  }
  const int flag = m.Input({}, Type::BOOL), x = m.Input({3});
  return ImportOutput(m, If(m, {flag, flag, x}, 1, 1));
}

TEST(TfliteIf, SubgraphsThatRunEachOtherWithoutEndAreRefused) {
  EXPECT_NO_THROW(ReadChain(3, 0, true));
  EXPECT_TELLS(ReadChain(3, 1, false), "subgraph 1 runs itself");
  EXPECT_TELLS(ReadChain(3, 3, false), "subgraph 3 runs itself");
  EXPECT_TELLS(ReadChain(40, 0, false), "subgraphs nest deeper than 32; expected less");
  EXPECT_TELLS(ReadChain(20, 0, true), "subgraphs run each other too often");
}

}  // namespace
}  // namespace mete
