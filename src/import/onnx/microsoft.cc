#include "import/onnx/microsoft.h"

#include <algorithm>

#include "import/onnx/microsoft_attention.h"
#include "import/onnx/microsoft_build.h"
#include "import/onnx/microsoft_codes.h"
#include "import/onnx/microsoft_embedding.h"
#include "import/onnx/microsoft_few_bits.h"
#include "import/onnx/microsoft_fused.h"
#include "import/onnx/microsoft_images.h"

namespace mete::onnx_import {
namespace {

// Attributes without those that have no meaning for the operator of ONNX.
Attributes Without(Attributes attributes, std::initializer_list<const char*> names) {
  for (const char* name : names) attributes.Erase(name);
  return attributes;
}

std::vector<ValueId> Trimmed(std::vector<ValueId> inputs) {
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  return inputs;
}

// Returns input `i` as floats; its scale and its zero point are the inputs behind it. `axis`: of scales of a
// vector.
ValueId Dequantized(Upgrade& u, size_t i, int64_t axis = 1) {
  Attributes attributes;
  attributes.Set("axis", axis);
  return u.Emit("DequantizeLinear", fmt::format("dequantize{}", i),
                Trimmed({u.input(i), u.input(i + 1), u.input(i + 2)}), attributes);
}

// Makes the node quantize `floats`; the scale and the zero point are inputs i and i + 1.
void Quantize(Upgrade& u, ValueId floats, size_t i) {
  u.node.inputs = Trimmed({floats, u.input(i), u.input(i + 1)});
  u.node.op = "QuantizeLinear";
  u.node.attributes = {};
}

void ExpandBinary(Upgrade& u) {
  const std::string op = u.node.op == "QLinearAdd" ? "Add" : "Mul";
  const ValueId a = Dequantized(u, 0), b = Dequantized(u, 3);
  Quantize(u, u.Emit(op, "floats", {a, b}), 6);
}

// Operators of one tensor, whose name is that of ONNX behind "QLinear".
void ExpandUnary(Upgrade& u) {
  const bool last = u.node.attributes.Int("channels_last", 0) != 0;
  const std::string op = u.node.op.substr(std::string_view("QLinear").size());
  Attributes attributes = Without(u.node.attributes, {"channels_last"});
  std::vector<ValueId> inputs{Dequantized(u, 0)};
  if (op == "Softmax") {
    // Before opset 13 the operator flattened its input, which changes nothing for the last axis.
    if (attributes.Int("opset", 13) < 13 && attributes.Int("axis", 1) != -1)
      return u.Unsupported("it flattens its input as before opset 13, and its axis is not -1");
    attributes.Erase("opset");
  } else if (op == "ReduceMean" && attributes.Has("axes")) {
    inputs.push_back(u.Ints("axes", attributes.IntList("axes")));
    attributes.Erase("axes");
  }
  if (!last) return Quantize(u, u.Emit(op, "floats", std::move(inputs), attributes), 3);
  const int known = RankOf(u, u.input(0));
  const int rank = known >= 3 ? known : 4;
  inputs[0] = ChannelsFirst(u, inputs[0], rank);
  Quantize(u, ChannelsLast(u, u.Emit(op, "floats", std::move(inputs), attributes), rank), 3);
}

void ExpandConcat(Upgrade& u) {
  if (u.node.inputs.size() % 3 != 2)
    return u.Bad("QLinearConcat needs a scale and a zero point for each input; got {} inputs",
                 u.node.inputs.size());
  std::vector<ValueId> parts;
  for (size_t i = 2; i < u.node.inputs.size(); i += 3) parts.push_back(Dequantized(u, i));
  Quantize(u, u.Emit("Concat", "floats", std::move(parts), u.node.attributes), 0);
}

void ExpandWhere(Upgrade& u) {
  const ValueId x = Dequantized(u, 1), y = Dequantized(u, 4);
  Quantize(u, u.Emit("Where", "floats", {u.input(0), x, y}), 7);
}

// A, its scale and zero point, B, its scale and zero point, an optional bias in units of both scales and
// `alpha`, and an optional scale and zero point of the output, which is otherwise of floats.
void ExpandGemm(Upgrade& u) {
  const Attributes given = u.node.attributes;
  const bool transposed = given.Int("transB", 0) != 0;
  std::vector<ValueId> inputs{Dequantized(u, 0), Dequantized(u, 3, transposed ? 0 : 1)};
  if (u.input(6) != kNoValue) {
    ValueId scale = u.Emit("Mul", "bias_scale", {u.input(1), u.input(4)});
    if (const float alpha = given.Float("alpha", 1); alpha != 1)
      scale = u.Emit("Mul", "bias_alpha", {scale, u.Scalar("alpha", alpha, scale)});
    Attributes axis;
    axis.Set("axis", int64_t{-1});
    inputs.push_back(u.Emit("DequantizeLinear", "bias", {u.input(6), scale}, axis));
  }
  if (u.input(7) != kNoValue) return Quantize(u, u.Emit("Gemm", "floats", std::move(inputs), given), 7);
  u.node.op = "Gemm";
  u.node.inputs = std::move(inputs);
}

// Makes the node the product of bytes, in floats: (a - a_zero) * (b - b_zero) * a_scale * b_scale + bias.
void ScaleProduct(Upgrade& u, std::vector<ValueId> product, ValueId a_scale, ValueId b_scale, ValueId bias) {
  Attributes to_floats;
  to_floats.Set("to", std::string("f32"));
  const ValueId sums = u.Emit("MatMulInteger", "sums", Trimmed(std::move(product)));
  const ValueId floats = u.Emit("Cast", "floats", {sums}, to_floats);
  const ValueId scale = u.Emit("Mul", "scales", {a_scale, b_scale});
  u.node.attributes = {};
  u.node.op = "Mul";
  u.node.inputs = {floats, scale};
  if (bias == kNoValue) return;
  const ValueId scaled = u.Emit("Mul", "scaled", u.node.inputs);
  u.node.op = "Add";
  u.node.inputs = {scaled, bias};
}

// A, B, their scales, their zero points, a bias.
void ExpandMatMulIntegerToFloat(Upgrade& u) {
  ScaleProduct(u, {u.input(0), u.input(1), u.input(4), u.input(5)}, u.input(2), u.input(3), u.input(6));
}

// A in floats, B, its scale and zero point, a bias.
void ExpandDynamicQuantizeMatMul(Upgrade& u) {
  const std::string prefix = u.node.name + "/quantized";
  const ValueId bytes = u.graph.AddValue(prefix), scale = u.graph.AddValue(prefix + "_scale"),
                zero = u.graph.AddValue(prefix + "_zero");
  u.graph.AddNode("DynamicQuantizeLinear", u.names.Unique(prefix), {u.input(0)}, {bytes, scale, zero});
  ScaleProduct(u, {bytes, u.input(1), zero, u.input(3)}, scale, u.input(2), u.input(4));
}

// Returns the weights in input `i` as floats, as an LSTM of ONNX has them (directions x gates x features).
// Their scale and zero point are inputs `scale` and scale + 1: one for each direction, or for each of its
// gates.
ValueId LstmWeights(Upgrade& u, size_t i, size_t scale) {
  const int64_t directions = u.node.attributes.String("direction", "forward") == "bidirectional" ? 2 : 1;
  const auto fitting = [&](ValueId id) { return Reshaped(u, id, {directions, 1, -1}); };
  const ValueId zero = CastTo(u, fitting(u.input(scale + 1)), "f32");
  const ValueId steps = Op(u, "Sub", {CastTo(u, u.input(i), "f32"), zero});
  return Permuted(u, Op(u, "Mul", {steps, fitting(u.input(scale))}), {0, 2, 1});
}

// An LSTM whose weights are bytes, and which ONNX Runtime computes with rounded inputs; here they are floats.
void ExpandDynamicQuantizeLstm(Upgrade& u) {
  const ValueId weights = LstmWeights(u, 1, 8), recurrence = LstmWeights(u, 2, 10);
  u.node.op = "LSTM";
  u.node.inputs.resize(8);
  u.node.inputs[1] = weights;
  u.node.inputs[2] = recurrence;
  u.node.inputs = Trimmed(std::move(u.node.inputs));
}

void KeepAsItIs(Upgrade&) {}

// The axis is an i32.
void ExpandExpandDims(Upgrade& u) {
  Become(u, "Unsqueeze", {u.input(0), Reshaped(u, CastTo(u, u.input(1), "i64"), {1})});
}

struct Row {
  std::string_view op;
  size_t least_inputs, most_inputs;
  void (*expand)(Upgrade&);
  size_t most_outputs = 1;
};

constexpr size_t kAnyNumber = 1 << 20;  // more than a file of 2 GB has

constexpr Row kRows[] = {
    {"Attention", 2, 7, ExpandAttention, 2},
    {"BiasAdd", 3, 3, ExpandBiasAdd},
    {"BiasGelu", 2, 2, ExpandBiasGelu},
    {"BiasSoftmax", 2, 2, ExpandBiasSoftmax},
    {"BiasSplitGelu", 2, 2, ExpandBiasSplitGelu},
    {"DequantizeLinear", 2, 3, KeepAsItIs},
    {"DynamicQuantizeMatMul", 3, 5, ExpandDynamicQuantizeMatMul},
    {"DynamicQuantizeLSTM", 12, 12, ExpandDynamicQuantizeLstm, 3},
    {"EmbedLayerNormalization", 7, 9, ExpandEmbedLayerNormalization, 3},
    {"ExpandDims", 2, 2, ExpandExpandDims},
    {"FastGelu", 1, 2, ExpandFastGelu},
    {"FusedConv", 2, 4, ExpandFusedConv},
    {"FusedGemm", 2, 3, ExpandFusedGemm},
    {"FusedMatMul", 2, 2, ExpandFusedMatMul},
    {"GatherBlockQuantized", 3, 4, ExpandGatherBlockQuantized},
    {"Gelu", 1, 1, KeepAsItIs},
    {"GroupNorm", 3, 3, ExpandGroupNorm},
    {"GroupQueryAttention", 7, 16, ExpandGroupQueryAttention, 4},
    {"MatMulBnb4", 3, 3, ExpandMatMulBnb4},
    {"MatMulIntegerToFloat", 4, 7, ExpandMatMulIntegerToFloat},
    {"MatMulNBits", 3, 6, ExpandMatMulNBits},
    {"MultiHeadAttention", 1, 10, ExpandMultiHeadAttention, 4},
    {"NhwcConv", 2, 3, ExpandNhwcConv},
    {"NhwcFusedConv", 2, 4, ExpandNhwcFusedConv},
    {"NhwcMaxPool", 1, 1, ExpandNhwcMaxPool},
    {"QAttention", 5, 9, ExpandQAttention, 2},
    {"QEmbedLayerNormalization", 13, 18, ExpandQEmbedLayerNormalization, 2},
    {"QGemm", 6, 9, ExpandGemm},
    {"QLinearAdd", 7, 8, ExpandBinary},
    {"QLinearAveragePool", 4, 5, ExpandUnary},
    {"QLinearConcat", 5, kAnyNumber, ExpandConcat},
    {"QLinearConv", 8, 9, ExpandQLinearConv},
    {"QLinearGlobalAveragePool", 5, 5, ExpandUnary},
    {"QLinearLeakyRelu", 4, 5, ExpandUnary},
    {"QLinearMul", 7, 8, ExpandBinary},
    {"QLinearReduceMean", 4, 5, ExpandUnary},
    {"QLinearSigmoid", 4, 5, ExpandUnary},
    {"QLinearSoftmax", 5, 5, ExpandUnary},
    {"QLinearWhere", 9, 9, ExpandWhere},
    {"QuantizeLinear", 2, 3, KeepAsItIs},
    {"QuickGelu", 1, 1, ExpandQuickGelu},
    {"RotaryEmbedding", 4, 4, ExpandRotaryEmbedding},
    {"SkipGroupNorm", 4, 5, ExpandGroupNorm, 2},
    {"SkipLayerNormalization", 3, 5, ExpandSkipNormalization, 4},
    {"SkipSimplifiedLayerNormalization", 3, 4, ExpandSkipNormalization, 4},
    {"TransposeMatMul", 2, 2, ExpandFusedMatMul},
    {"Trilu", 1, 2, KeepAsItIs},
};

const Row* Find(std::string_view op) {
  const auto at =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.op == op; });
  return at == std::end(kRows) ? nullptr : at;
}

}  // namespace

bool IsMicrosoft(std::string_view op) { return Find(op) != nullptr; }

void ExpandMicrosoft(Upgrade& u) {
  const Row& row = *Find(u.node.op);
  const size_t inputs = u.node.inputs.size();
  const size_t outputs = u.node.outputs.size();
  if (inputs < row.least_inputs || inputs > row.most_inputs || outputs < 1 || outputs > row.most_outputs)
    return u.Bad("{} has {} inputs and {} outputs; expected {} to {} inputs and {}", row.op, inputs, outputs,
                 row.least_inputs, row.most_inputs,
                 row.most_outputs == 1 ? "1 output" : fmt::format("1 to {} outputs", row.most_outputs));
  row.expand(u);
}

}  // namespace mete::onnx_import
