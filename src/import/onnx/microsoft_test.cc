// Tests of the operators of com.microsoft: what becomes of each, and what is refused.
#include "import/onnx/microsoft.h"

#include <gtest/gtest.h>

#include "import/onnx/models_testing.h"

namespace mete {
namespace {

// A model of one operator over "x" (u8 1x4x6x6), "y" of the same shape, and constants "s" (a scale) and "z"
// (a zero point), and of an i8 matrix "w", an i32 vector "bias" and a matrix "f" of floats.
ModelProto ModelOf(const std::string& op, const std::vector<std::string>& inputs) {
  ModelProto m = EmptyModel();
  for (const char* name : {"x", "y"}) AddInput(m, name, {1, 4, 6, 6}, {}, TensorProto::UINT8);
  AddInput(m, "rows", {3, 4}, {}, TensorProto::UINT8);
  AddInput(m, "f", {3, 4});
  AddRaw(m, "s", TensorProto::FLOAT, {}, RawOf<float>({0.5f}));
  AddRaw(m, "z", TensorProto::UINT8, {}, RawOf<uint8_t>({7}));
  AddRaw(m, "w", TensorProto::INT8, {4, 2}, RawOf<int8_t>({1, 2, 3, 4, 5, 6, 7, 8}));
  AddRaw(m, "ws", TensorProto::FLOAT, {2}, RawOf<float>({0.5f, 0.25f}));
  AddRaw(m, "wz", TensorProto::INT8, {2}, RawOf<int8_t>({0, 0}));
  AddRaw(m, "bias", TensorProto::INT32, {2}, RawOf<int32_t>({10, 20}));
  AddRaw(m, "fb", TensorProto::FLOAT, {2}, RawOf<float>({1, 2}));
  AddOp(m, op, inputs, {"out"}, "node").set_domain("com.microsoft");
  AddOutput(m, "out");
  return m;
}

// Returns the operators of the graph, separated by spaces.
std::string OperatorsOf(const ModelProto& m) {
  std::string all;
  for (const Node& node : Import(m).graph.nodes) all += (all.empty() ? "" : " ") + node.op;
  return all;
}

TEST(Microsoft, QLinearOperatorsComputeBetweenDequantizeAndQuantize) {
  const std::vector<std::string> pair{"x", "s", "z", "y", "s", "z", "s", "z"}, one{"x", "s", "z", "s", "z"};
  EXPECT_EQ(OperatorsOf(ModelOf("QLinearAdd", pair)), "DequantizeLinear DequantizeLinear Add QuantizeLinear");
  EXPECT_EQ(OperatorsOf(ModelOf("QLinearMul", pair)), "DequantizeLinear DequantizeLinear Mul QuantizeLinear");
  EXPECT_EQ(OperatorsOf(ModelOf("QLinearConcat", {"s", "z", "x", "s", "z", "y", "s", "z"})),
            "DequantizeLinear DequantizeLinear Concat QuantizeLinear");
  for (const char* op : {"Sigmoid", "LeakyRelu", "GlobalAveragePool"})
    EXPECT_EQ(OperatorsOf(ModelOf(std::string("QLinear") + op, one)),
              std::string("DequantizeLinear ") + op + " QuantizeLinear");
}

TEST(Microsoft, AttributesAreThoseOfTheOperator) {
  ModelProto m = ModelOf("QLinearAveragePool", {"x", "s", "z", "s", "z"});
  NodeProto& node = *m.mutable_graph()->mutable_node(0);
  AddInts(node, "kernel_shape", {2, 2});
  AddInt(node, "channels_last", 0);
  const Graph pool = Import(m).graph;
  EXPECT_EQ(pool.nodes.at(1).attributes.IntList("kernel_shape"), Ints({2, 2}));
  EXPECT_FALSE(pool.nodes.at(1).attributes.Has("channels_last"));

  m = ModelOf("QLinearReduceMean", {"x", "s", "z", "s", "z"});
  AddInts(*m.mutable_graph()->mutable_node(0), "axes", {2, 3});
  const Graph mean = Import(m).graph;
  EXPECT_EQ(mean.nodes.at(1).op, "ReduceMean");
  EXPECT_EQ(*IntsOf(mean, mean.nodes.at(1).inputs.at(1)), Ints({2, 3}));

  m = ModelOf("QLinearSoftmax", {"x", "s", "z", "s", "z"});
  AddInt(*m.mutable_graph()->mutable_node(0), "opset", 13);
  AddInt(*m.mutable_graph()->mutable_node(0), "axis", 2);
  const Graph softmax = Import(m).graph;
  EXPECT_EQ(softmax.nodes.at(1).attributes.Int("axis", -1), 2);
  EXPECT_FALSE(softmax.nodes.at(1).attributes.Has("opset"));
}

TEST(Microsoft, ProductsHaveABiasInUnitsOfBothScales) {
  EXPECT_EQ(OperatorsOf(ModelOf("QGemm", {"rows", "s", "z", "w", "ws", "wz", "bias", "s", "z"})),
            "DequantizeLinear DequantizeLinear Mul DequantizeLinear Gemm QuantizeLinear");
  EXPECT_EQ(OperatorsOf(ModelOf("QGemm", {"rows", "s", "z", "w", "ws", "wz"})),
            "DequantizeLinear DequantizeLinear Gemm");
  EXPECT_EQ(OperatorsOf(ModelOf("MatMulIntegerToFloat", {"rows", "w", "s", "ws", "z", "wz", "fb"})),
            "MatMulInteger Cast Mul Mul Add");
  EXPECT_EQ(OperatorsOf(ModelOf("MatMulIntegerToFloat", {"rows", "w", "s", "ws"})),
            "MatMulInteger Cast Mul Mul");
  EXPECT_EQ(OperatorsOf(ModelOf("DynamicQuantizeMatMul", {"f", "w", "ws", "wz", "fb"})),
            "DynamicQuantizeLinear MatMulInteger Cast Mul Mul Add");
}

TEST(Microsoft, OmittedZeroPointsStayOmitted) {
  const Graph g = Import(ModelOf("QLinearAdd", {"x", "s", "", "y", "s", "z", "s"})).graph;
  EXPECT_EQ(g.nodes.at(0).inputs.size(), 2u);
  EXPECT_EQ(g.nodes.back().inputs.size(), 2u);
}

// A model of one operator over "a" (f32 3x4x5), "image" (f32 1x3x8x8) and constants: "w" (a matrix 5x4), "v"
// (a vector of 5), "kernel" (4x3x3x3) and "bias" (of 4 channels).
ModelProto ModelOfFloats(const std::string& op, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs = {"out"}) {
  ModelProto m = EmptyModel();
  AddInput(m, "a", {3, 4, 5});
  AddInput(m, "image", {1, 3, 8, 8});
  const auto constant = [&](const char* name, const std::vector<int64_t>& shape, size_t elements) {
    AddRaw(m, name, TensorProto::FLOAT, shape, RawOf<float>(std::vector<float>(elements, 0.5f)));
  };
  constant("w", {5, 4}, 20);
  constant("v", {5}, 5);
  constant("kernel", {4, 3, 3, 3}, 108);
  constant("bias", {4}, 4);
  AddOp(m, op, inputs, outputs, "node").set_domain("com.microsoft");
  AddOutput(m, "out");
  return m;
}
NodeProto& NodeOf(ModelProto& m) { return *m.mutable_graph()->mutable_node(0); }

TEST(Microsoft, FusedActivationsAreTakenApart) {
  EXPECT_EQ(OperatorsOf(ModelOfFloats("BiasGelu", {"a", "v"})), "Add Gelu");
  EXPECT_EQ(OperatorsOf(ModelOfFloats("FastGelu", {"a"})), "Gelu");
  EXPECT_EQ(OperatorsOf(ModelOfFloats("FastGelu", {"a", "v"})), "Add Gelu");
  const Graph quick = Import(ModelOfFloats("QuickGelu", {"a"})).graph;
  EXPECT_EQ(quick.nodes.at(0).op, "Swish");
  EXPECT_EQ(quick.nodes.at(0).attributes.Float("alpha", 1), 1.702f);

  const std::vector<std::string> conv{"image", "kernel", "bias"};
  EXPECT_EQ(OperatorsOf(ModelOfFloats("FusedConv", conv)), "Conv");
  ModelProto m = ModelOfFloats("FusedConv", conv);
  AddString(NodeOf(m), "activation", "LeakyRelu");
  AddFloats(NodeOf(m), "activation_params", {0.25f});
  AddFloat(NodeOf(m), "activation_alpha", 7);  // which has no meaning here, and is no epilogue of the Conv
  const Graph leaky = Import(m).graph;
  ASSERT_EQ(leaky.nodes.size(), 2u);
  EXPECT_TRUE(leaky.nodes[0].attributes.empty());
  EXPECT_EQ(leaky.nodes[1].attributes.Float("alpha", 0), 0.25f);

  m = ModelOfFloats("FusedGemm", {"w", "w", "v"});
  AddInt(NodeOf(m), "transB", 1);
  AddString(NodeOf(m), "activation", "HardSigmoid");
  AddFloat(NodeOf(m), "activation_beta", 0.4f);
  const Graph gemm = Import(m).graph;
  EXPECT_EQ(gemm.nodes.at(0).attributes.size(), 1u);
  EXPECT_EQ(gemm.nodes.at(1).attributes.Float("beta", 0), 0.4f);
  EXPECT_FALSE(gemm.nodes.at(1).attributes.Has("alpha"));
}

TEST(Microsoft, ProductsTransposeAndScale) {
  EXPECT_EQ(OperatorsOf(ModelOfFloats("FusedMatMul", {"a", "w"})), "MatMul");
  ModelProto m = ModelOfFloats("FusedMatMul", {"a", "w"});
  for (const char* name : {"transA", "transB"}) AddInt(NodeOf(m), name, 1);
  AddFloat(NodeOf(m), "alpha", 0.5f);
  const Graph g = Import(m).graph;
  ASSERT_EQ(g.nodes.size(), 4u);
  EXPECT_EQ(g.nodes[0].attributes.IntList("perm"), Ints({0, 2, 1}));
  EXPECT_EQ(g.nodes[1].attributes.IntList("perm"), Ints({1, 0}));
  EXPECT_EQ(g.nodes[2].op + " " + g.nodes[3].op, "MatMul Mul");
}

TEST(Microsoft, SkipNormalizationsTellTheirSum) {
  EXPECT_EQ(OperatorsOf(ModelOfFloats("SkipLayerNormalization", {"a", "a", "v"})), "Add LayerNormalization");
  const Graph g =
      Import(ModelOfFloats("SkipSimplifiedLayerNormalization", {"a", "a", "v", "v"}, {"out", "", "", "sum"}))
          .graph;
  ASSERT_EQ(g.nodes.size(), 3u);
  EXPECT_EQ(g.nodes[2].op, "RMSNormalization");
  EXPECT_EQ(g.value(g.nodes[1].outputs.at(0)).name, "sum");
  EXPECT_EQ(g.nodes[2].inputs.at(0), g.nodes[1].outputs.at(0));
  EXPECT_EQ(g.nodes[2].outputs.size(), 1u);
}

TEST(Microsoft, RefusesWhatFusedOperatorsRarelyHave) {
  ModelProto m = ModelOfFloats("FusedConv", {"image", "kernel"});
  AddString(NodeOf(m), "activation", "Dance");
  EXPECT_TRUE(Contains(ImportError(m), "its activation 'Dance' is unknown"));
  m = ModelOfFloats("FusedMatMul", {"a", "w"});
  AddInt(NodeOf(m), "transBatchA", 1);
  EXPECT_TRUE(Contains(ImportError(m), "transBatchA and transBatchB are not supported"));
  EXPECT_TRUE(Contains(ImportError(ModelOfFloats("SkipLayerNormalization", {"a", "a", "v"}, {"out", "mean"})),
                       "outputs for training are not supported"));
  EXPECT_TRUE(
      Contains(ImportError(ModelOfFloats("Gelu", {"a", "v"})), "expected 1 to 1 inputs and 1 output"));
}

TEST(Microsoft, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(Contains(ImportError(ModelOf("QAttention", {"x"})), "com.microsoft.QAttention"));
  EXPECT_TRUE(Contains(ImportError(ModelOf("QLinearAdd", {"x", "s", "z"})),
                       "[node] QLinearAdd has 3 inputs and 1 outputs; expected 7 to 8 inputs and 1 output"));
  EXPECT_TRUE(Contains(ImportError(ModelOf("QLinearConcat", {"s", "z", "x", "s", "z", "y"})),
                       "needs a scale and a zero point for each input; got 6 inputs"));
  ModelProto m = ModelOf("QLinearGlobalAveragePool", {"x", "s", "z", "s", "z"});
  AddInt(*m.mutable_graph()->mutable_node(0), "channels_last", 1);
  EXPECT_TRUE(Contains(ImportError(m), "channels_last=1 is not supported"));
  m = ModelOf("QLinearSoftmax", {"x", "s", "z", "s", "z"});
  AddInt(*m.mutable_graph()->mutable_node(0), "opset", 11);
  EXPECT_TRUE(Contains(ImportError(m), "flattens its input"));
}

}  // namespace
}  // namespace mete
