#include "import/onnx/upgrade.h"

#include <gtest/gtest.h>

#include "import/onnx/models_testing.h"

namespace mete::onnx_import {
namespace {

using Names = std::vector<std::string>;

// A node "n" with inputs x, y, z (as many as asked for) and output "out", upgraded from `opset`.
struct Upgraded {
  struct Model {
    size_t inputs = 1, outputs = 1;  // of its one node
    bool mixed_floats = false;
  };
  Upgraded(const std::string& op, int64_t opset, Attributes attributes, const Model& model) : Upgraded() {
    Upgrade u{
        graph, names, problems, model.mixed_floats, {names.Unique("n"), op, {}, {}, std::move(attributes)}};
    for (size_t i = 0; i < model.inputs; ++i)
      u.node.inputs.push_back(graph.AddValue(std::string(1, char('x' + i))));
    for (size_t i = 0; i < model.outputs; ++i)
      u.node.outputs.push_back(graph.AddValue("out" + std::to_string(i)));
    UpgradeAndAdd(u, opset);
  }
  Upgraded(const std::string& op, int64_t opset, Attributes attributes)
      : Upgraded(op, opset, std::move(attributes), Model()) {}
  Upgraded() : problems("test") {}

  const Node& node() const { return graph.nodes.back(); }
  const Tensor& Constant(size_t input) const { return graph.value(node().inputs.at(input)).constant; }
  Ints IntsOf(size_t input) const {
    const Tensor& t = Constant(input);
    return Ints(t.as<int64_t>(), t.as<int64_t>() + t.elements());
  }
  std::vector<std::string> Operators() const {
    std::vector<std::string> out;
    for (const Node& n : graph.nodes) out.push_back(n.op);
    return out;
  }

  Graph graph;
  NodeNames names;
  ImportProblems problems;
};

Attributes With(const std::string& name, Attribute value) {
  Attributes a;
  a.Set(name, std::move(value));
  return a;
}

TEST(Upgrade, SoftmaxBeforeOpset13FlattensAtItsAxis) {
  const Upgraded u("Softmax", 12, With("axis", int64_t(2)));
  EXPECT_EQ(u.Operators(), (Names{"Flatten", "Softmax", "Shape", "Reshape"}));
  EXPECT_EQ(u.graph.nodes[0].attributes.Int("axis", 0), 2);
  EXPECT_EQ(u.graph.nodes[1].attributes.Int("axis", 0), -1);
  EXPECT_EQ(u.graph.value(u.node().outputs[0]).name, "out0");
  EXPECT_EQ(Upgraded("Hardmax", 12, {}).Operators(), (Names{"Flatten", "Hardmax", "Shape", "Reshape"}));
  EXPECT_EQ(Upgraded("LogSoftmax", 12, With("axis", int64_t(-1))).Operators(), (Names{"LogSoftmax"}));
  EXPECT_EQ(Upgraded("Softmax", 13, With("axis", int64_t(1))).Operators(), (Names{"Softmax"}));
}

TEST(Upgrade, ClipLimitsBecomeInputs) {
  const Upgraded u("Clip", 6, With("max", 6.0f));
  EXPECT_EQ(u.node().input(1), kNoValue);
  EXPECT_EQ(u.Constant(2).as<float>()[0], 6.0f);
  EXPECT_TRUE(u.node().attributes.empty());
}

TEST(Upgrade, ScalarsFollowTheTypeOfTheirTensorWhereTypesAreMixed) {
  EXPECT_EQ(Upgraded("Clip", 6, With("max", 6.0f), {.mixed_floats = true}).Operators(),
            (Names{"CastLike", "Clip"}));
}

TEST(Upgrade, AxesBecomeAnInput) {
  EXPECT_EQ(Upgraded("Squeeze", 12, With("axes", Ints{0, 2})).IntsOf(1), (Ints{0, 2}));
  EXPECT_EQ(Upgraded("Unsqueeze", 7, With("axes", Ints{1})).IntsOf(1), (Ints{1}));
  EXPECT_EQ(Upgraded("ReduceSum", 12, With("axes", Ints{1})).IntsOf(1), (Ints{1}));
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                         "ReduceMin", "ReduceProd", "ReduceSumSquare"})
    EXPECT_EQ(Upgraded(op, 17, With("axes", Ints{-1})).IntsOf(1), (Ints{-1})) << op;
  EXPECT_EQ(Upgraded("ReduceMean", 13, {}).node().inputs.size(), 1u);
}

TEST(Upgrade, SliceAttributesBecomeInputs) {
  Attributes a = With("starts", Ints{1});
  a.Set("ends", Ints{3});
  const Upgraded u("Slice", 9, a);
  EXPECT_EQ(u.IntsOf(1), (Ints{1}));
  EXPECT_EQ(u.IntsOf(2), (Ints{3}));
  EXPECT_EQ(u.node().input(3), kNoValue);
}

TEST(Upgrade, PadAttributesBecomeInputs) {
  Attributes a = With("pads", Ints{1, 2});
  a.Set("value", 3.0f);
  a.Set("mode", "constant");
  const Upgraded u("Pad", 2, a);
  EXPECT_EQ(u.IntsOf(1), (Ints{1, 2}));
  EXPECT_EQ(u.Constant(2).as<float>()[0], 3.0f);
  EXPECT_EQ(u.node().attributes.String("mode", ""), "constant");
}

TEST(Upgrade, SplitSaysItsSizesOrItsCount) {
  EXPECT_EQ(Upgraded("Split", 11, With("split", Ints{1, 2}), {.outputs = 2}).IntsOf(1), (Ints{1, 2}));
  EXPECT_EQ(Upgraded("Split", 11, {}, {.outputs = 3}).node().attributes.Int("num_outputs", 0), 3);
  EXPECT_EQ(Upgraded("Split", 13, {}, {.outputs = 2}).node().attributes.Int("num_outputs", 0), 2);
  EXPECT_FALSE(Upgraded("Split", 18, {}, {.inputs = 2, .outputs = 2}).node().attributes.Has("num_outputs"));
}

TEST(Upgrade, TopKTakesKAsAnInput) {
  EXPECT_EQ(Upgraded("TopK", 9, With("k", int64_t(4))).IntsOf(1), (Ints{4}));
}

TEST(Upgrade, DropoutLosesItsRatio) {
  EXPECT_TRUE(Upgraded("Dropout", 7, With("ratio", 0.5f)).node().attributes.empty());
}

TEST(Upgrade, BatchNormalizationKeepsOnlyItsResult) {
  const Upgraded u("BatchNormalization", 7, With("spatial", int64_t(1)), {.inputs = 5, .outputs = 5});
  EXPECT_EQ(u.node().outputs.size(), 1u);
  EXPECT_FALSE(u.node().attributes.Has("spatial"));
  EXPECT_TRUE(Upgraded("BatchNormalization", 7, With("spatial", int64_t(0)), {.inputs = 5}).problems.any());
}

TEST(Upgrade, UpsampleBecomesAnAsymmetricResizeThatRoundsDown) {
  const Upgraded u("Upsample", 7, With("scales", Floats{1, 1, 2, 2}));
  EXPECT_EQ(u.node().op, "Resize");
  EXPECT_EQ(u.node().input(1), kNoValue);
  EXPECT_EQ(u.Constant(2).as<float>()[3], 2.0f);
  EXPECT_EQ(u.node().attributes.String("coordinate_transformation_mode", ""), "asymmetric");
  EXPECT_EQ(u.node().attributes.String("nearest_mode", ""), "floor");
  const Upgraded nine("Upsample", 9, {}, {.inputs = 2});
  EXPECT_EQ(nine.graph.value(nine.node().input(2)).name, "y");
  const Upgraded resize("Resize", 10, {}, {.inputs = 2});
  EXPECT_EQ(resize.graph.value(resize.node().input(2)).name, "y");
  EXPECT_EQ(resize.node().input(1), kNoValue);
}

TEST(Upgrade, ScatterBecomesScatterElements) {
  EXPECT_EQ(Upgraded("Scatter", 9, {}, {.inputs = 3}).node().op, "ScatterElements");
}

TEST(Upgrade, GroupNormalizationGetsScalesPerChannel) {
  const Upgraded u("GroupNormalization", 18, With("num_groups", int64_t(2)), {.inputs = 3});
  EXPECT_EQ(u.node().op, "GroupNormalization");
  EXPECT_EQ(u.graph.value(u.node().input(1)).name, "n/scale");
  EXPECT_EQ(u.graph.value(u.node().input(2)).name, "n/bias");
  EXPECT_EQ(
      Upgraded("GroupNormalization", 21, With("num_groups", int64_t(2)), {.inputs = 3}).graph.nodes.size(),
      1u);
}

TEST(Upgrade, RenamedModesAndChangedDefaults) {
  EXPECT_EQ(Upgraded("GridSample", 16, {}, {.inputs = 2}).node().attributes.String("mode", ""), "linear");
  EXPECT_EQ(
      Upgraded("GridSample", 16, With("mode", "bicubic"), {.inputs = 2}).node().attributes.String("mode", ""),
      "cubic");
  EXPECT_EQ(Upgraded("RoiAlign", 10, {}, {.inputs = 3})
                .node()
                .attributes.String("coordinate_transformation_mode", ""),
            "output_half_pixel");
}

}  // namespace
}  // namespace mete::onnx_import
