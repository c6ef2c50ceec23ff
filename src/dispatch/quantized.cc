#include "dispatch/quantized.h"

#include <cmath>

#include "base/window.h"
#include "dispatch/conv_algorithms.h"
#include "dispatch/reason.h"
#include "kernels/fast/conv/window.h"

namespace mete {
namespace {

bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

float AsFloat(const Tensor& t, int64_t i) {
  return t.type() == DType::kI8 ? float(t.as<int8_t>()[i]) : float(t.as<uint8_t>()[i]);
}

// Returns the constant zero point of a tensor of bytes; nullopt where there is no single constant one.
std::optional<Level> LevelOf(const Graph& graph, ValueId id) {
  if (!IsConstant(graph, id)) return std::nullopt;
  const Tensor& zero = graph.value(id).constant;
  if (zero.elements() != 1 || !IsByte(zero.type())) return std::nullopt;
  return Level{zero.type(), AsFloat(zero, 0)};
}

std::optional<float> ScaleOf(const Graph& graph, ValueId id) {
  if (!IsConstant(graph, id)) return std::nullopt;
  const Tensor& scale = graph.value(id).constant;
  if (scale.elements() != 1 || scale.type() != DType::kF32) return std::nullopt;
  return *scale.as<float>();
}

// The weights and their zero points, which are constants.
struct Weights {
  const Tensor &bytes, &zeros;

  int64_t length() const { return bytes.elements() / bytes.shape()[0]; }  // of a channel
  float zero(int64_t channel) const { return AsFloat(zeros, zeros.elements() == 1 ? 0 : channel); }
};

Weights WeightsOf(const Graph& graph, const Node& node) {
  return {graph.value(node.inputs[3]).constant, graph.value(node.inputs[5]).constant};
}

bool Fit(const Weights& w) {
  if (!w.bytes.has_value() || !w.zeros.has_value() || !IsByte(w.bytes.type()) || !IsByte(w.zeros.type()))
    return false;
  return w.zeros.elements() == 1 || w.zeros.elements() == w.bytes.shape()[0];
}

bool ReadScales(const Graph& graph, const Node& node, QuantizedConvolution* conv) {
  const auto x = ScaleOf(graph, node.inputs[1]), y = ScaleOf(graph, node.inputs[6]);
  const Tensor& w = graph.value(node.inputs[4]).constant;
  const int64_t channels = conv->shape.out_channels;
  if (!x || !y || !w.has_value() || w.type() != DType::kF32 ||
      (w.elements() != 1 && w.elements() != channels))
    return false;
  for (int64_t c = 0; c < channels; ++c)
    conv->scale.push_back(*x * w.as<float>()[w.elements() == 1 ? 0 : c] / *y);
  return true;
}

bool SumsAreExact(const QuantizedConvolution& conv, const Weights& weights) {
  const int64_t length = weights.length();
  for (size_t c = 0; c < conv.bias.size(); ++c) {
    const float zero = weights.zero(int64_t(c));
    double most = std::abs(double(conv.bias[c]));
    for (int64_t i = int64_t(c) * length; i < (int64_t(c) + 1) * length; ++i)
      most += double(conv.x.largest()) * std::abs(double(AsFloat(weights.bytes, i) - zero));
    if (most >= double(1 << 24)) return false;
  }
  return true;
}

Shape ToNhwc(const Shape& s) { return {s[0], s[2], s[3], s[1]}; }

}  // namespace

std::string QuantizedConvolution::kernel() const {
  return "quantized_" + KernelName(shape, ConvAlgorithm::kDirect);
}

std::optional<QuantizedConvolution> QuantizedConvolutionOf(const Graph& graph, const Node& node,
                                                           std::string* why) {
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape,
              &w = graph.value(node.inputs[3]).shape;
  if (!x.known() || !y.known() || x.rank() != 4 || y.Elements() == 0 || x.Elements() == 0)
    return No("not 2-D, or empty", why);
  // no pass makes such a node, but a file may have one
  if (IsNhwc(node.attributes)) return No("in NHWC", why);
  QuantizedConvolution conv;
  conv.shape = WindowOf(ToNhwc(x), ToNhwc(y), node.attributes, w[2], w[3]);
  conv.shape.groups = node.attributes.Int("group", 1);
  const auto x_level = LevelOf(graph, node.inputs[2]), y_level = LevelOf(graph, node.inputs[7]);
  const Weights weights = WeightsOf(graph, node);
  if (!x_level || !y_level || !Fit(weights) || !ReadScales(graph, node, &conv))
    return No("scales or zero points are not constants of a fitting form", why);
  conv.x = *x_level;
  conv.y = *y_level;
  conv.bias.assign(size_t(y[1]), 0.f);
  if (node.input(8) != kNoValue) {
    const Tensor& bias = graph.value(node.inputs[8]).constant;
    if (!bias.has_value()) return No("the bias is not constant", why);
    for (int64_t c = 0; c < y[1]; ++c) conv.bias[size_t(c)] = float(bias.as<int32_t>()[c]);
  }
  if (!SumsAreExact(conv, weights)) return No("sums may pass 2^24, where f32 is not exact", why);
  return conv;
}

std::vector<float> QuantizedWeights(const Graph& graph, const Node& node) {
  const Weights weights = WeightsOf(graph, node);
  const int64_t length = weights.length();
  std::vector<float> result;
  result.reserve(size_t(weights.bytes.elements()));
  for (int64_t c = 0; c < weights.bytes.shape()[0]; ++c) {
    const float zero = weights.zero(c);
    for (int64_t i = c * length; i < (c + 1) * length; ++i)
      result.push_back(AsFloat(weights.bytes, i) - zero);
  }
  return result;
}

std::optional<Conversion> ConversionOf(const Graph& graph, const Node& node, std::string* why) {
  const bool to_bytes = node.op == "QuantizeLinear";
  const Value &in = graph.value(node.inputs[0]), &out = graph.value(node.outputs[0]);
  const auto scale = ScaleOf(graph, node.inputs[1]);
  const auto level = LevelOf(graph, node.input(2));
  const Value &floats = to_bytes ? in : out, &bytes = to_bytes ? out : in;
  if (!scale || !level || floats.type != DType::kF32 || bytes.type != level->type || !out.shape.known())
    return No("not between f32 and bytes with one constant scale and zero point", why);
  return Conversion{to_bytes, *scale, *level, out.shape.Elements()};
}

}  // namespace mete
