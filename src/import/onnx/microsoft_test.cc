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
