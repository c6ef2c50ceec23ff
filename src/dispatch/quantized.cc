#include "dispatch/quantized.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fused.h"
#include "base/tensor_source.h"
#include "base/window.h"
#include "dispatch/reason.h"
#include "graph/fused.h"
#include "kernels/fast/conv/window.h"

namespace mete {
namespace {

bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

float AsFloat(const Tensor& t, int64_t i) {
  return t.type() == DType::kI8 ? float(t.as<int8_t>()[i]) : float(t.as<uint8_t>()[i]);
}

bool IsSigned(DType type) { return type == DType::kI8; }

// Reads the weights and their zero points, inputs of a node, which must be constants: one for all weights, or
// one for each output channel. No zero points are 0.
bool ReadWeights(const Graph& graph, const Node& node, int weights, int zero_points,
                 QuantizedConvolution* conv) {
  const Tensor& bytes = graph.value(node.inputs[size_t(weights)]).constant;
  const ValueId zero = node.input(size_t(zero_points));
  if (!bytes.has_value()) return false;
  const Tensor zeros = zero == kNoValue ? Tensor(bytes.type(), Shape{}) : graph.value(zero).constant;
  if (!bytes.has_value() || !zeros.has_value() || !IsByte(bytes.type()) || zeros.type() != bytes.type())
    return false;
  const int64_t channels = conv->shape.out_channels;
  if (zeros.elements() != 1 && zeros.elements() != channels) return false;
  // The columns of a matrix are read where they lie.
  if (const Tensor* matrix = bytes.source() ? bytes.source()->transposed() : nullptr) {
    conv->weights.bytes = matrix->data();
    conv->weights.channel_stride = 1;
    conv->weights.element_stride = conv->shape.out_channels;
  } else {
    conv->weights.bytes = bytes.data();
  }
  conv->weights.is_signed = IsSigned(bytes.type());
  bool any = false;
  for (int64_t c = 0; c < channels; ++c) {
    const auto zero = int32_t(AsFloat(zeros, zeros.elements() == 1 ? 0 : c));
    conv->minus_weight_zeros.push_back(MinusWeightZero(conv->weights.is_signed, zero));
    any = any || conv->minus_weight_zeros.back() != 0;
  }
  if (!any) conv->minus_weight_zeros.clear();
  return true;
}

bool ReadScales(const Graph& graph, const Node& node, QuantizedConvolution* conv) {
  const auto x = ScaleOf(graph, node.inputs[1]), y = ScaleOf(graph, node.inputs[6]);
  const Tensor& w = graph.value(node.inputs[4]).constant;
  const int64_t channels = conv->shape.out_channels;
  if (!x || !y || !w.has_value() || w.type() != DType::kF32 ||
      (w.elements() != 1 && w.elements() != channels))
    return false;
  for (int64_t c = 0; c < channels; ++c) {
    conv->scale.push_back(*x * w.as<float>()[w.elements() == 1 ? 0 : c] / *y);
    if (!std::isfinite(conv->scale.back())) return false;
  }
  return true;
}

// Reads the zero point of a right operand that is computed in each run.
bool ReadComputedWeights(const Graph& graph, const Node& node, int weights, int zero_point,
                         QuantizedConvolution* conv) {
  const auto level = LevelOf(graph, node.inputs[size_t(zero_point)]);
  if (!level) return false;
  conv->weights_input = weights;
  conv->weights.is_signed = IsSigned(level->type);
  const int32_t minus = MinusWeightZero(conv->weights.is_signed, int32_t(level->zero));
  if (minus != 0) conv->minus_weight_zeros.assign(size_t(conv->shape.out_channels), minus);
  return true;
}

// Returns whether no 32-bit sum can overflow.
bool SumsFit(const QuantizedConvolution& conv) {
  const ConvShape& s = conv.shape;
  const int64_t length = s.in_channels / s.groups * s.kernel_height * s.kernel_width;
  if (length > kLongestByteSum) return false;
  const int64_t most = std::numeric_limits<int32_t>::max() - length * kMostOfProduct;
  for (int64_t c = 0; conv.bias && c < s.out_channels; ++c)
    if (std::abs(int64_t{conv.bias[c]}) > most) return false;
  return true;
}

}  // namespace

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

namespace {

// Reads all but the shape, and whether the sums fit. The inputs of both operators have the same order.
std::optional<QuantizedConvolution> WithConstants(const Graph& graph, const Node& node,
                                                  QuantizedConvolution conv, std::string* why) {
  const auto x = LevelOf(graph, node.inputs[2]), y = LevelOf(graph, node.inputs[7]);
  const bool computed = node.op == "QLinearMatMul" && !graph.value(node.inputs[3]).is_constant();
  const bool weights =
      computed ? ReadComputedWeights(graph, node, 3, 5, &conv) : ReadWeights(graph, node, 3, 5, &conv);
  if (!x || !y || !weights || !ReadScales(graph, node, &conv))
    return No("scales or zero points are not constants of a fitting form", why);
  conv.x = *x;
  conv.y = *y;
  conv.least = y->least();
  conv.most = y->most();
  if (const Ints& levels = node.attributes.IntList(kLevels); !levels.empty()) {
    conv.least = float(levels[0]) - y->zero;
    conv.most = float(levels[1]) - y->zero;
  }
  if (node.input(8) != kNoValue) {
    const Tensor& bias = graph.value(node.inputs[8]).constant;
    if (!bias.has_value()) return No("the bias is not constant", why);
    conv.bias = bias.as<int32_t>();
  }
  if (!SumsFit(conv)) return No("its sums may need more than 32 bits", why);
  return conv;
}

// The same for operators whose output is the sums.
std::optional<QuantizedConvolution> WithSums(const Graph& graph, const Node& node, QuantizedConvolution conv,
                                             std::string* why) {
  conv.sums = true;
  if (node.op == "mete.ScaledConvInteger" || node.op == "mete.ScaledMatMulInteger") {
    conv.scale_input = 4;
    conv.bias_input = node.input(5) != kNoValue ? 5 : -1;
  }
  conv.x.type = graph.value(node.inputs[0]).type;
  if (!ReadWeights(graph, node, 1, 3, &conv))
    return No("the right operand or its zero points are not constants", why);
  if (const ValueId zero = node.input(2); zero != kNoValue) {
    const auto level = LevelOf(graph, zero);
    if (level) conv.x = *level;
    else if (graph.value(zero).shape.known() && graph.value(zero).shape.Elements() == 1) conv.zero_input = 2;
    else return No("each row has a zero point", why);
  }
  if (!SumsFit(conv)) return No("its sums may need more than 32 bits", why);
  return conv;
}

// Returns the algorithms that the options allow. What the user asks of halves is for floats.
std::vector<ConvAlgorithm> Allowed(const std::vector<ConvAlgorithm>& possible,
                                   const DispatchOptions& options) {
  if (!options.conv && options.least_exact) return {possible.back()};
  if (!options.conv || OperandsOf(*options.conv) != Precision::kF32) return possible;
  const bool fits = std::find(possible.begin(), possible.end(), *options.conv) != possible.end();
  return {fits ? *options.conv : ConvAlgorithm::kDirect};
}

}  // namespace

std::optional<QuantizedConvolution> QuantizedConvolutionOf(const Graph& graph, const Node& node,
                                                           const DispatchOptions& options, std::string* why) {
  if (!IsNhwc(node.attributes)) return No("not in NHWC", why);
  const bool sums = node.op != "QLinearConv";
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape,
              &w = graph.value(node.inputs[sums ? 1 : 3]).shape;
  if (!KnownAndNotEmpty(x) || !KnownAndNotEmpty(y)) return No("of unknown shape, or empty", why);
  QuantizedConvolution conv;
  conv.shape = ConvShapeOf(x, w, y, node.attributes);
  if (sums) return WithSums(graph, node, std::move(conv), why);
  if (const ValueId table = node.input(kByteTableInput); table != kNoValue) {
    if (!IsConstant(graph, table)) return No("the table is not constant", why);
    conv.table = graph.value(table).constant.as<uint8_t>();
  }
  auto exact = WithConstants(graph, node, std::move(conv), why);
  if (exact && OperandsOf(node) == Precision::kF32)
    exact->algorithms = Allowed(ByteAlgorithmsFor(*exact), options);
  return exact;
}

std::optional<QuantizedConvolution> QuantizedProductOf(const Graph& graph, const Node& node,
                                                       std::string* why) {
  const bool sums = node.op != "QLinearMatMul";
  const Shape &a = graph.value(node.inputs[0]).shape, &b = graph.value(node.inputs[sums ? 1 : 3]).shape,
              &y = graph.value(node.outputs[0]).shape;
  if (!KnownAndNotEmpty(a) || !KnownAndNotEmpty(y)) return No("of unknown shape, or empty", why);
  const int rank = b.rank();
  const bool many = rank > 2 && !sums && !graph.value(node.inputs[3]).is_constant() && a.rank() == rank &&
                    std::ranges::equal(a.dims().first(size_t(rank - 2)), b.dims().first(size_t(rank - 2)));
  if (rank != 2 && !many) return No("the right operand is not a matrix", why);
  QuantizedConvolution conv;
  conv.products = many ? b.Elements(0, rank - 2) : 1;
  ConvShape& s = conv.shape;
  s.in_channels = b[rank - 2];
  s.out_channels = b[rank - 1];
  s.in_width = s.out_width = y.Elements() / conv.products / s.out_channels;
  conv.weights.channel_stride = 1;
  conv.weights.element_stride = s.out_channels;
  return sums ? WithSums(graph, node, std::move(conv), why)
              : WithConstants(graph, node, std::move(conv), why);
}

std::optional<DynamicConversion> DynamicConversionOf(const Graph& graph, const Node& node, std::string* why) {
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (!KnownAndNotEmpty(x)) return No("of unknown shape, or empty", why);
  return DynamicConversion{x.Elements()};
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
