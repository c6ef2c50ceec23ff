#include "graph/node_text/node_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"

namespace mete {
namespace {

NodeText Parse(const std::string& line) { return ParseNode("nodes.txt:7", line); }

TEST(NodeText, ReadsANodeWithAllItsParts) {
  const NodeText node = Parse(
      "Conv(2x11x9x37, const 37x1x3x3, -, u8 scalar in 3 to 5) {group=37, alpha=0.5, layout=\"NHWC\", "
      "pads=[1,0], ops=[\"Mul\",\"Add\"], params=[0.0,1e-3]} -> depthwise_f32");
  EXPECT_EQ(node.op, "Conv");
  ASSERT_EQ(node.inputs.size(), 4u);
  EXPECT_EQ(node.inputs[0].shape, (Shape{2, 11, 9, 37}));
  EXPECT_EQ(node.inputs[0].type, DType::kF32);
  EXPECT_FALSE(node.inputs[0].constant);
  EXPECT_TRUE(node.inputs[1].constant);
  EXPECT_FALSE(node.inputs[2].shape.known());
  EXPECT_EQ(node.inputs[3].type, DType::kU8);
  EXPECT_EQ(node.inputs[3].shape, Shape{});
  EXPECT_EQ(node.inputs[3].range, (std::pair<double, double>{3, 5}));
  EXPECT_EQ(node.attributes.Int("group", 0), 37);
  EXPECT_EQ(node.attributes.Float("alpha", 0), 0.5f);
  EXPECT_EQ(node.attributes.String("layout", ""), "NHWC");
  EXPECT_EQ(node.attributes.IntList("pads"), (Ints{1, 0}));
  EXPECT_EQ(node.attributes.StringList("ops"), (Strings{"Mul", "Add"}));
  EXPECT_EQ(node.attributes.FloatList("params"), (Floats{0, 1e-3f}));
  EXPECT_EQ(node.expected, "depthwise_f32");
  EXPECT_EQ(node.outputs, 1);
  EXPECT_TRUE(node.text.ends_with("1e-3]}"));
}

TEST(NodeText, SkipsCommentsAndCountsLines) {
  const auto nodes = ParseNodes("n.txt", "# a comment\n\nRelu(3)\nSplit[2](2x7) {num_outputs=2}\n");
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].where, "n.txt:3");
  EXPECT_EQ(nodes[1].where, "n.txt:4");
  EXPECT_EQ(nodes[1].outputs, 2);
}

TEST(NodeText, AMalformedLineIsAnErrorWithItsFileLineAndColumn) {
  EXPECT_TELLS(ParseNodes("n.txt", "Relu(3)\nRelu(3"), "[n.txt:2] a character is missing at column 7");
  for (const auto& [line, problem] : std::vector<std::pair<std::string, std::string>>{
           {"(3)", "a name is missing at column 1; got '(3)', expected the name of an operator"},
           {"Relu 3", "a character is missing at column 6"},
           {"Relu()3", "a character is missing at column 7; got '3', expected '->'"},
           {"Relu(x3)", "a number is missing or out of range"},
           {"Relu(f33 3)", "a number is missing or out of range"},
           {"Relu(3x)", "a number is missing or out of range"},
           {"Relu(99999999999999999999)", "a number is missing or out of range"},
           {"Relu(-3)", "a character is missing"},
           {"Relu(3x-3)", "no negative dimension"},
           {"Relu(1x1x1x1x1x1x1x1x1)", "too many dimensions"},
           {"Relu(99999x99999)", "at most 4 GiB"},
           {"Relu(3 in 2 to 1)", "a range ends before it begins"},
           {"Relu(3 in 2)", "expected 'to '"},
           {"Relu(3 in 0 to 1e99)", "a range is too large"},
           {"Relu([1e99])", "a value is too large"},
           {"Relu(i64 [1,2)", "expected ']'"},
           {"Relu[0](3)", "the number of outputs is impossible"},
           {"Relu(3) {a=1, a=2}", "attribute a is given twice"},
           {"Relu(3) {a=[1,0.5]}", "a list has values of two types"},
           {"Relu(3) {a=\"x}", "a text does not end"},
           {"Relu(3) {a=}", "a number or a text in quotes"},
           {"Relu(3) {a=1", "expected '}'"},
           {"Relu(3) ->", "nothing is expected"}})
    EXPECT_TELLS(Parse(line), problem);
}

TEST(NodeText, AFileThatIsNotThereIsNamed) {
  EXPECT_TELLS(ReadNodes("no/such.txt"), "[no/such.txt] the file cannot be opened");
  const TempPath folder;
  std::filesystem::create_directories(folder.str());
  const std::string path = folder.str() + "/n.txt";
  std::ofstream(path) << "Relu(3)\nRelu(\n";
  EXPECT_TELLS(ReadNodes(path), "n.txt:2] ");
}

TEST(NodeText, MakesAGraphWithValuesInTheirRanges) {
  const OneNodeGraph one = MakeOneNodeGraph(
      Parse(
          "QLinearConv(u8 1x3x9x8, const scalar in 0.1 to 0.2, const u8 scalar, const i8 5x3x1x1, const 5 in "
          "0.01 to 0.02, const i8 5 in 0 to 0, const scalar in 0.5 to 0.5, const i8 scalar, const i32 5 in "
          "-5000 to 5000)"),
      3);
  EXPECT_EQ(one.graph.inputs.size(), 1u);
  EXPECT_EQ(one.graph.value(one.graph.outputs[0]).shape, (Shape{1, 5, 9, 8}));
  EXPECT_EQ(one.data[6].as<float>()[0], 0.5f);
  const float* scales = one.data[4].as<float>();
  EXPECT_TRUE(std::all_of(scales, scales + 5, [](float s) { return s >= 0.01f && s <= 0.02f; }));
  const int8_t* zeros = one.data[5].as<int8_t>();
  EXPECT_TRUE(std::all_of(zeros, zeros + 5, [](int8_t z) { return z == 0; }));
  const uint8_t* bytes = one.data[0].as<uint8_t>();
  EXPECT_GT(*std::max_element(bytes, bytes + 216), 200);
}

TEST(NodeText, ListsAreTheValuesAndAnOmittedInputHasNone) {
  const OneNodeGraph one = MakeOneNodeGraph(
      Parse("Slice(4x9, const i64 [1], const i64 [9007199254740992], const i64 [1], const i64 [2])"), 1);
  EXPECT_EQ(one.graph.value(one.graph.outputs[0]).shape, (Shape{4, 4}));
  EXPECT_EQ(one.data[2].as<int64_t>()[0], int64_t{1} << 53);
  const OneNodeGraph clip = MakeOneNodeGraph(Parse("Clip(7, -, const scalar)"), 1);
  EXPECT_EQ(clip.node().inputs[1], kNoValue);
  EXPECT_FALSE(clip.data[1].has_value());
}

TEST(NodeText, ANodeWhoseShapesDoNotFitNamesItsLine) {
  EXPECT_TELLS(MakeOneNodeGraph(Parse("MatMul(3x4, 5x6)"), 1), "nodes.txt:7");
}

}  // namespace
}  // namespace mete
