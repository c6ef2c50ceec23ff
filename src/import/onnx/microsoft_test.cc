// Tests of the operators of com.microsoft: what becomes of each, and what is refused.
#include "import/onnx/microsoft.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Microsoft, ChannelsThatAreLastAreMovedBeforeAndBehind) {
  ModelProto m = ModelOf("QLinearGlobalAveragePool", {"x", "s", "z", "s", "z"});
  AddInt(*m.mutable_graph()->mutable_node(0), "channels_last", 1);
  const Graph g = Import(m).graph;
  ASSERT_EQ(OperatorsOf(m), "DequantizeLinear Transpose GlobalAveragePool Transpose QuantizeLinear");
  EXPECT_EQ(g.nodes[1].attributes.IntList("perm"), Ints({0, 3, 1, 2}));
  EXPECT_EQ(g.nodes[3].attributes.IntList("perm"), Ints({0, 2, 3, 1}));
  EXPECT_TRUE(g.nodes[2].attributes.empty());
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

TEST(Microsoft, ProductsMoveTheFirstDimensionBehindTheBatch) {
  for (const auto& [transposed, order] : {std::pair{0, Ints{1, 0, 2}}, {1, Ints{1, 2, 0}}}) {
    ModelProto m = ModelOfFloats("FusedMatMul", {"a", "w"});
    AddInt(NodeOf(m), "transBatchA", 1);
    AddInt(NodeOf(m), "transA", transposed);
    const Graph g = Import(m).graph;
    ASSERT_EQ(g.nodes.size(), 2u);
    EXPECT_EQ(g.nodes[0].attributes.IntList("perm"), order);
  }
}

TEST(Microsoft, ABiasBeforeASoftmaxIsAdded) {
  ModelProto m = ModelOfFloats("BiasSoftmax", {"a", "a"});
  AddInt(NodeOf(m), "axis", 2);
  EXPECT_EQ(OperatorsOf(m), "Add Softmax");
  EXPECT_EQ(OperatorsOf(ModelOfFloats("BiasSoftmax", {"a", "a"})), "Add Flatten Softmax Shape Reshape");
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
  AddInt(NodeOf(m), "transBatchB", 1);
  EXPECT_TRUE(Contains(ImportError(m), "transBatchB of an operand of 2 dimensions"));
  EXPECT_TRUE(Contains(ImportError(ModelOfFloats("SkipLayerNormalization", {"a", "a", "v"}, {"out", "mean"})),
                       "outputs for training are not supported"));
  EXPECT_TRUE(
      Contains(ImportError(ModelOfFloats("Gelu", {"a", "v"})), "expected 1 to 1 inputs and 1 output"));
}

// A model of attention over "q" (1x3x8), "past" (1x2x4x4) and constants "w" (8x24) and a mask "mask4".
ModelProto ModelOfAttention(const std::string& op, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs = {"out"}) {
  ModelProto m = EmptyModel();
  AddInput(m, "q", {1, 3, 8});
  AddInput(m, "past", {1, 2, 4, 4});
  AddInput(m, "mask4", {1, 1, 9, 9}, {}, TensorProto::INT32);
  AddInput(m, "lengths", {1}, {}, TensorProto::INT32);
  AddRaw(m, "w", TensorProto::FLOAT, {8, 24}, RawOf<float>(std::vector<float>(192, 0.5f)));
  AddOp(m, op, inputs, outputs, "node").set_domain("com.microsoft");
  AddInt(NodeOf(m), "num_heads", 2);
  AddOutput(m, "out");
  return m;
}

TEST(Microsoft, RefusesAttentionThatItDoesNotCompute) {
  const auto attention = [](const std::function<void(NodeProto&)>& change) {
    ModelProto m = ModelOfAttention("Attention", {"q", "w"});
    change(NodeOf(m));
    return ImportError(m);
  };
  EXPECT_EQ(attention([](NodeProto&) {}), "");
  EXPECT_TRUE(Contains(attention([](NodeProto& n) { AddInt(n, "do_rotary", 1); }),
                       "do_rotary=1 is not supported, expected 0"));
  EXPECT_TRUE(
      Contains(attention([](NodeProto& n) { AddInt(n, "dance", 1); }), "its attribute 'dance' is unknown"));
  EXPECT_TRUE(Contains(attention([](NodeProto& n) {
                         AddInts(n, "qkv_hidden_sizes", {8, 8});
                       }),
                       "[node] qkv_hidden_sizes; got 2 numbers, expected 3"));
  EXPECT_TRUE(Contains(ImportError(ModelOfAttention("Attention", {"q", "w", "", "mask4"})),
                       "a mask with four dimensions is not supported"));
  EXPECT_TRUE(Contains(ImportError(ModelOfAttention("MultiHeadAttention", {"q", "past"})),
                       "an input has 4 dimensions, expected 5"));
  EXPECT_TRUE(Contains(ImportError(ModelOfAttention("MultiHeadAttention", {"q", "past", "past", "w"})),
                       "a bias beside keys of four dimensions is not supported"));
  EXPECT_TRUE(Contains(ImportError(ModelOfAttention("MultiHeadAttention", {"q"}, {"out", "", "", "scores"})),
                       "its output of scores is not supported"));
  ModelProto m = ModelOfAttention("GroupQueryAttention", {"q", "q", "q", "past", "", "lengths", "lengths"});
  AddInt(NodeOf(m), "kv_num_heads", 2);
  EXPECT_TRUE(Contains(ImportError(m), "it has a past key or a past value alone"));
  m = ModelOfAttention("GroupQueryAttention", {"q", "q", "q", "past", "past", "lengths", "lengths"});
  AddInt(NodeOf(m), "kv_num_heads", 3);
  AddInt(NodeOf(m), "sliding_window_cache", 1);
  EXPECT_TRUE(Contains(ImportError(m), "sliding_window_cache=1 is not supported"));
  m = ModelOfAttention("GroupQueryAttention", {"q", "q", "q", "past", "past", "lengths", "lengths"});
  EXPECT_TRUE(Contains(ImportError(m), "[node] kv_num_heads; got 0, expected a number from 1 on"));
}

// A product of "f" (3x4) with 2 outputs of 4 bits; the weights are "w".
ModelProto ModelOfFewBits(const std::vector<std::string>& inputs) {
  ModelProto m = EmptyModel();
  AddInput(m, "f", {3, 4});
  AddInput(m, "open", {2, 1, 8}, {}, TensorProto::UINT8);
  AddRaw(m, "w", TensorProto::UINT8, {2, 1, 8}, RawOf(std::vector<uint8_t>(16, 0x7b)));
  AddRaw(m, "s", TensorProto::FLOAT, {2}, RawOf<float>({0.5f, 0.25f}));
  AddRaw(m, "three", TensorProto::FLOAT, {3}, RawOf<float>({0.5f, 0.25f, 1}));
  AddRaw(m, "in_order", TensorProto::INT32, {4}, RawOf<int32_t>({0, 0, 0, 0}));
  AddRaw(m, "groups", TensorProto::INT32, {4}, RawOf<int32_t>({0, 0, 1, 0}));
  AddOp(m, "MatMulNBits", inputs, {"out"}, "node").set_domain("com.microsoft");
  AddInt(NodeOf(m), "K", 4);
  AddInt(NodeOf(m), "N", 2);
  AddInt(NodeOf(m), "block_size", 16);
  AddOutput(m, "out");
  return m;
}

TEST(Microsoft, WeightsOfFewBitsAreReadWhereTheyLie) {
  const Graph g = Import(ModelOfFewBits({"f", "w", "s", "", "in_order"})).graph;
  const auto gemm =
      std::find_if(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return n.op == "Gemm"; });
  ASSERT_NE(gemm, g.nodes.end());
  const Tensor& weights = g.value(gemm->inputs[1]).constant;
  ASSERT_NE(weights.source(), nullptr) << "no floats before they are packed";
  EXPECT_EQ(weights.shape(), (Shape{2, 4}));
  const float want[] = {3 * 0.5f,  -1 * 0.5f,  3 * 0.5f,  -1 * 0.5f,
                        3 * 0.25f, -1 * 0.25f, 3 * 0.25f, -1 * 0.25f};
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(weights.as<float>()[i], want[i]) << i;
}

TEST(Microsoft, RefusesWeightsOfFewBitsThatDoNotFit) {
  EXPECT_TRUE(Contains(ImportError(ModelOfFewBits({"f", "open", "s"})), "its weights are not constant"));
  EXPECT_TRUE(Contains(ImportError(ModelOfFewBits({"f", "w", "s", "", "groups"})), "g_idx with groups"));
  EXPECT_TRUE(Contains(ImportError(ModelOfFewBits({"f", "w", "three"})),
                       "[node] the scales have the wrong size; got 3, expected 2 times 1 elements"));
  ModelProto m = ModelOfFewBits({"f", "w", "s"});
  AddInt(NodeOf(m), "bits", 3);
  EXPECT_TRUE(Contains(ImportError(m), "bits=3 is not supported, expected 2, 4 or 8"));
  m = ModelOfFewBits({"f", "w", "s"});
  NodeOf(m).mutable_attribute(0)->set_i(int64_t(1) << 40);
  EXPECT_TRUE(Contains(ImportError(m), "[node] K; got 1099511627776"));
}

// The product of "f" (3x4) with 2 outputs of codes, in blocks of 3 weights.
ModelProto ModelOfCodes(int64_t type, const std::vector<float>& scales) {
  ModelProto m = EmptyModel();
  AddInput(m, "f", {3, 4});
  AddRaw(m, "w", TensorProto::UINT8, {4}, RawOf<uint8_t>({0x0f, 0x37, 0x8a, 0xf0}));
  AddRaw(m, "s", TensorProto::FLOAT, {int64_t(scales.size())}, RawOf<float>(scales));
  AddOp(m, "MatMulBnb4", {"f", "w", "s"}, {"out"}, "node").set_domain("com.microsoft");
  AddInt(NodeOf(m), "K", 4);
  AddInt(NodeOf(m), "N", 2);
  AddInt(NodeOf(m), "block_size", 3);
  AddInt(NodeOf(m), "quant_type", type);
  AddOutput(m, "out");
  return m;
}

TEST(Microsoft, WeightsMayBeCodesOfATable) {
  const auto weights = [](int64_t type) {
    const Graph g = Import(ModelOfCodes(type, {1, 2, 4})).graph;
    const auto gemm = std::ranges::find(g.nodes, "Gemm", &Node::op);
    const Tensor& t = g.value(gemm->inputs.at(1)).constant;
    EXPECT_NE(t.source(), nullptr) << "no floats before they are packed";
    EXPECT_EQ(t.shape(), (Shape{2, 4}));
    return std::vector<float>(t.as<float>(), t.as<float>() + 8);
  };
  // The codes are 0, 15, 3 | 7, 8, 10 | 15, 0.
  const float third = 1.0f / 3;
  EXPECT_EQ(weights(0), (std::vector<float>{0, -0.25f, 1, 2 * 0.25f, 0, -4 * third, -4 * 0.25f, 0}));
  const std::vector<float> nf4 = weights(1);
  EXPECT_EQ(nf4[0], -1);
  EXPECT_EQ(nf4[1], 1);
  EXPECT_FLOAT_EQ(nf4[2], -0.39491749f);
  EXPECT_EQ(nf4[3], 0);
  EXPECT_FLOAT_EQ(nf4[4], 2 * 0.0795803f);
  EXPECT_EQ(nf4[6], 4);
  EXPECT_EQ(nf4[7], -4);
}

TEST(Microsoft, RefusesCodesThatDoNotFit) {
  EXPECT_TRUE(Contains(ImportError(ModelOfCodes(2, {1, 2, 4})), "[node] quant_type; got 2, expected 0"));
  EXPECT_TRUE(
      Contains(ImportError(ModelOfCodes(1, {1, 2})),
               "[node] the weights or the scales have the wrong size; got 4 and 2, expected 4 and 3"));
}

TEST(Microsoft, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(
      Contains(ImportError(ModelOf("LongformerAttention", {"x"})), "com.microsoft.LongformerAttention"));
  EXPECT_TRUE(Contains(ImportError(ModelOf("QLinearAdd", {"x", "s", "z"})),
                       "[node] QLinearAdd has 3 inputs and 1 outputs; expected 7 to 8 inputs and 1 output"));
  EXPECT_TRUE(Contains(ImportError(ModelOf("QLinearConcat", {"s", "z", "x", "s", "z", "y"})),
                       "needs a scale and a zero point for each input; got 6 inputs"));
  ModelProto m = ModelOf("QLinearSoftmax", {"x", "s", "z", "s", "z"});
  AddInt(*m.mutable_graph()->mutable_node(0), "opset", 11);
  EXPECT_TRUE(Contains(ImportError(m), "flattens its input"));
}

}  // namespace
}  // namespace mete
