// The layers of GraphBuilder that compute, each with its shape rule and its effect on the mean square.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "zoo/builder.h"

namespace mete::zoo {
namespace {

// E[f(x)^2] / E[x^2] for a unit normal x, by numeric integration if no formula is given.
constexpr double kReluGain = 0.5;
constexpr double kRelu6Gain = 0.5;
constexpr double kSwishGain = 0.355;
constexpr double kHardSwishGain = 0.330;
constexpr double kGeluGain = 0.425;
constexpr double kSigmoidMeanSquare = 0.293;
constexpr double kTanhMeanSquare = 0.394;
// The effect of the spread of BatchNorm()'s scales, biases, means and variances.
constexpr double kBatchNormGain = 1.09;
// The average of many positive numbers has about the square of their mean: E[relu(x)]^2 / E[relu(x)^2] = 1 /
// pi.
constexpr double kAverageGain = 0.32;
// The gain of the largest of 9 half-normal numbers, rounded.
constexpr double kMaxGain = 2;

int64_t ConvolvedSize(int64_t size, int window, int stride, int pad) {
  return (size + 2 * pad - window) / stride + 1;
}

int64_t PooledSize(int64_t size, int window, const PoolOptions& options) {
  const int stride = options.stride, pad = options.pad;
  if (!options.ceil) return ConvolvedSize(size, window, stride, pad);
  const int64_t count = (size + 2 * pad - window + stride - 1) / stride + 1;
  // A last window that would start in the padding does not count.
  return (count - 1) * stride >= size + pad ? count - 1 : count;
}

Dims BroadcastDims(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) result[offset + i] = std::max(result[offset + i], shorter[i]);
  return result;
}

}  // namespace

GraphBuilder::ConvPlace GraphBuilder::PlaceOf(const Tensor& x, int channels, Window window,
                                              const ConvOptions& options) {
  const int sides[] = {window.h, window.w};
  ConvPlace place{{x.dims[0], channels}, {}};
  Dims kernel, strides, pads, dilations;
  for (size_t i = 0; i + 2 < x.dims.size(); ++i) {
    const int pad = options.pad == kSame ? (sides[i] - 1) / 2 * options.dilation : options.pad;
    const int reach = (sides[i] - 1) * options.dilation + 1;
    place.dims.push_back(ConvolvedSize(x.dims[i + 2], reach, options.stride, pad));
    kernel.push_back(sides[i]);
    strides.push_back(options.stride);
    pads.push_back(pad);
    dilations.push_back(options.dilation);
  }
  const Dims begins = pads;
  pads.insert(pads.end(), begins.begin(), begins.end());
  place.attributes = {{"kernel_shape", kernel},
                      {"strides", strides},
                      {"pads", pads},
                      {"dilations", dilations},
                      {"group", int64_t(options.groups)}};
  return place;
}

Tensor GraphBuilder::Conv(const Tensor& x, int channels, Window window, const ConvOptions& options) {
  const int64_t in_group = x.dims[1] / options.groups;
  const std::string name = "conv_" + std::to_string(nodes_ + 1);
  Dims weight{channels, in_group, window.h};
  if (x.dims.size() == 4) weight.push_back(window.w);
  const double fan_in = std::accumulate(weight.begin() + 1, weight.end(), 1.0, std::multiplies<>());
  std::vector<std::string> inputs = {
      x.name, Weights(name + ".weight", weight, 1 / std::sqrt(fan_in * x.mean_square))};
  if (options.bias) inputs.push_back(Weights(name + ".bias", {channels}, 0.05));
  const ConvPlace place = PlaceOf(x, channels, window, options);
  return Node("Conv", inputs, place.dims, 1, place.attributes);
}

Tensor GraphBuilder::ConvTranspose(const Tensor& x, int channels, int factor) {
  const std::string name = "convtranspose_" + std::to_string(nodes_ + 1);
  const std::string inputs[] = {x.name,
                                Weights(name + ".weight", {x.dims[1], channels, factor, factor},
                                        1 / std::sqrt(double(x.dims[1]) * x.mean_square)),
                                Weights(name + ".bias", {channels}, 0.05)};
  const Attribute attributes[] = {
      {"kernel_shape", Dims{factor, factor}}, {"strides", Dims{factor, factor}}, {"pads", Dims{0, 0, 0, 0}}};
  return Node("ConvTranspose", inputs, {x.dims[0], channels, x.dims[2] * factor, x.dims[3] * factor}, 1,
              attributes);
}

// Levels from -4 to 4, where nearly all values of a mean square of 1 are.
constexpr float kByteScale = 8.f / 255;
constexpr uint8_t kByteZero = 128;

Tensor GraphBuilder::Quantize(const Tensor& x) {
  const std::string inputs[] = {x.name, Scalar(kByteScale), Byte(kByteZero)};
  return Node("QuantizeLinear", inputs, x.dims, x.mean_square);
}

Tensor GraphBuilder::Dequantize(const Tensor& x) {
  const std::string inputs[] = {x.name, Scalar(kByteScale), Byte(kByteZero)};
  return Node("DequantizeLinear", inputs, x.dims, x.mean_square);
}

Tensor GraphBuilder::QConv(const Tensor& x, int channels, Window window, const ConvOptions& options) {
  constexpr double kStd = 32;  // levels of the weights' standard deviation, of which 127 are four
  const int64_t in_group = x.dims[1] / options.groups;
  const std::string name = "conv_" + std::to_string(nodes_ + 1);
  const double fan_in = double(in_group) * window.h * window.w;
  const std::vector<float> scales(size_t(channels), float(1 / std::sqrt(fan_in * x.mean_square) / kStd));
  const std::string zero = Byte(kByteZero), scale = Scalar(kByteScale);
  const std::string inputs[] = {x.name,
                                scale,
                                zero,
                                Bytes(name + ".weight", {channels, in_group, window.h, window.w}, kStd),
                                Constant(name + ".scales", {channels}, std::span(std::as_const(scales))),
                                Byte(int8_t{0}),
                                scale,
                                zero};
  const ConvPlace place = PlaceOf(x, channels, window, options);
  return Node("QLinearConv", inputs, place.dims, 1, place.attributes);
}

Tensor GraphBuilder::Dense(const Tensor& x, int features) {
  const std::string name = "gemm_" + std::to_string(nodes_ + 1);
  const std::string inputs[] = {
      x.name,
      Weights(name + ".weight", {features, x.dims[1]}, 1 / std::sqrt(double(x.dims[1]) * x.mean_square)),
      Weights(name + ".bias", {features}, 0.05)};
  const Attribute attributes[] = {{"transB", int64_t(1)}};
  return Node("Gemm", inputs, {x.dims[0], features}, 1, attributes);
}

Tensor GraphBuilder::Weighted(const Tensor& x, int features) {
  const int64_t in = x.dims.back();
  Dims dims = x.dims;
  dims.back() = features;
  const std::string inputs[] = {x.name, Weights("matmul_" + std::to_string(nodes_ + 1) + ".weight",
                                                {in, features}, 1 / std::sqrt(double(in) * x.mean_square))};
  return Node("MatMul", inputs, dims, 1);
}

Tensor GraphBuilder::Linear(const Tensor& x, int features) {
  const Tensor y = Weighted(x, features);
  const std::string sum[] = {y.name, Weights(y.name + ".bias", {features}, 0.05)};
  return Node("Add", sum, y.dims, 1);
}

Tensor GraphBuilder::BatchNorm(const Tensor& x, float scale) {
  const std::string name = "batchnormalization_" + std::to_string(nodes_ + 1);
  const Dims dims = {x.dims[1]};
  const double std = std::sqrt(x.mean_square);
  const std::string inputs[] = {x.name, Weights(name + ".scale", dims, 0.1 * scale, scale),
                                Weights(name + ".bias", dims, 0.1 * scale),
                                Normal(name + ".mean", dims, 0.1 * std),
                                Uniform(name + ".var", dims, 0.6 * x.mean_square, 1.4 * x.mean_square)};
  const Attribute attributes[] = {{"epsilon", 1e-5f}};
  return Node("BatchNormalization", inputs, x.dims, kBatchNormGain * scale * scale, attributes);
}

Tensor GraphBuilder::LayerNorm(const Tensor& x) {
  const std::string name = "layernormalization_" + std::to_string(nodes_ + 1);
  const Dims dims = {x.dims.back()};
  const std::string inputs[] = {x.name, Weights(name + ".scale", dims, 0.1, 1),
                                Weights(name + ".bias", dims, 0.05)};
  const Attribute attributes[] = {{"axis", int64_t(-1)}, {"epsilon", 1e-6f}};
  return Node("LayerNormalization", inputs, x.dims, 1, attributes);
}

Tensor GraphBuilder::LayerNormParts(const Tensor& x) {
  Dims row = x.dims;
  row.back() = 1;
  const auto mean = [&](const Tensor& t) {
    return Unary("ReduceMean", t, 1, {{"axes", Dims{-1}}, {"keepdims", int64_t(1)}});
  };
  const auto binary = [&](const char* op, const std::string& a, const std::string& b, const Dims& dims) {
    const std::string inputs[] = {a, b};
    return Node(op, inputs, dims, 1);
  };
  const Tensor centred = binary("Sub", x.name, mean(x).name, x.dims);
  const Tensor squared = binary("Pow", centred.name, Scalar(2), x.dims);
  const Tensor shifted = binary("Add", mean(squared).name, Scalar(1e-12f), row);
  const Tensor normal = binary("Div", centred.name, Unary("Sqrt", shifted, 1).name, x.dims);
  const std::string name = "layernorm_" + std::to_string(nodes_ + 1);
  const Tensor scaled = binary("Mul", normal.name, Weights(name + ".scale", {x.dims.back()}, 0.1, 1), x.dims);
  return binary("Add", scaled.name, Weights(name + ".bias", {x.dims.back()}, 0.05), x.dims);
}

Tensor GraphBuilder::RmsNormParts(const Tensor& x) {
  Dims row = x.dims;
  row.back() = 1;
  const auto node = [&](const char* op, const std::string& a, const std::string& b, const Dims& dims) {
    const std::string inputs[] = {a, b};
    return Node(op, inputs, dims, 1).name;
  };
  const std::string square = node("Pow", x.name, Scalar(2), x.dims);
  const Attribute attributes[] = {{"axes", Dims{-1}}, {"keepdims", int64_t(1)}};
  const std::string mean = Node("ReduceMean", std::span(&square, 1), row, 1, attributes).name;
  const Tensor shifted{node("Add", mean, Scalar(1e-5f), row), row};
  const std::string inverse = node("Div", Scalar(1), Unary("Sqrt", shifted, 1).name, row);
  const std::string normal = node("Mul", x.name, inverse, x.dims);
  const std::string gamma =
      Weights("rmsnorm_" + std::to_string(nodes_ + 1) + ".scale", {x.dims.back()}, 0.1, 1);
  return {node("Mul", gamma, normal, x.dims), x.dims};
}

Tensor GraphBuilder::LocalResponseNorm(const Tensor& x, int size) {
  return Unary("LRN", x, x.mean_square,
               {{"size", int64_t(size)}, {"alpha", 1e-4f}, {"beta", 0.75f}, {"bias", 1.0f}});
}

Tensor GraphBuilder::Unary(const char* op, const Tensor& x, double mean_square,
                           std::initializer_list<Attribute> attributes) {
  const std::string inputs[] = {x.name};
  return Node(op, inputs, x.dims, mean_square, {attributes.begin(), attributes.size()});
}

Tensor GraphBuilder::Relu(const Tensor& x) { return Unary("Relu", x, kReluGain * x.mean_square); }
Tensor GraphBuilder::LeakyRelu(const Tensor& x, float slope) {
  return Unary("LeakyRelu", x, (1 + double(slope) * slope) / 2 * x.mean_square, {{"alpha", slope}});
}
Tensor GraphBuilder::Negative(const Tensor& x) { return Unary("Neg", x, x.mean_square); }
Tensor GraphBuilder::Cos(const Tensor& x) { return Unary("Cos", x, 0.5); }
Tensor GraphBuilder::Sin(const Tensor& x) { return Unary("Sin", x, 0.5); }
Tensor GraphBuilder::Sigmoid(const Tensor& x) { return Unary("Sigmoid", x, kSigmoidMeanSquare); }
Tensor GraphBuilder::HardSigmoid(const Tensor& x) {
  return Unary("HardSigmoid", x, kSigmoidMeanSquare, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
}
Tensor GraphBuilder::Tanh(const Tensor& x) { return Unary("Tanh", x, kTanhMeanSquare); }
Tensor GraphBuilder::Softmax(const Tensor& x) {
  return Unary("Softmax", x, 1 / double(x.dims.back()), {{"axis", int64_t(-1)}});
}

Tensor GraphBuilder::LogSoftmax(const Tensor& x) {
  return Unary("LogSoftmax", x, std::pow(std::log(double(x.dims.back())), 2), {{"axis", int64_t(-1)}});
}

Tensor GraphBuilder::Relu6(const Tensor& x) {
  const std::string inputs[] = {x.name, Scalar(0), Scalar(6)};
  return Node("Clip", inputs, x.dims, kRelu6Gain * x.mean_square);
}

Tensor GraphBuilder::Swish(const Tensor& x) {
  Tensor y = Mul(x, Sigmoid(x));
  y.mean_square = kSwishGain * x.mean_square;
  return y;
}

Tensor GraphBuilder::HardSwish(const Tensor& x) {
  const std::string sum[] = {x.name, Scalar(3)};
  const Tensor shifted = Node("Add", sum, x.dims, 1);
  const Tensor clipped = Relu6(shifted);
  const std::string quotient[] = {clipped.name, Scalar(6)};
  Tensor y = Mul(x, Node("Div", quotient, x.dims, 1));
  y.mean_square = kHardSwishGain * x.mean_square;
  return y;
}

Tensor GraphBuilder::Gelu(const Tensor& x) {
  const std::string quotient[] = {x.name, Scalar(1.41421356f)};
  const Tensor erf = Unary("Erf", Node("Div", quotient, x.dims, 1), 1);
  const std::string sum[] = {erf.name, Scalar(1)};
  Tensor y = Scaled(Mul(x, Node("Add", sum, x.dims, 1)), 0.5f);
  y.mean_square = kGeluGain * x.mean_square;
  return y;
}

Tensor GraphBuilder::Pool(const char* op, const Tensor& x, int window, const PoolOptions& options,
                          double gain, std::vector<Attribute> attributes) {
  const int64_t pad = options.pad, stride = options.stride;
  attributes.insert(attributes.begin(), {{"kernel_shape", Dims{window, window}},
                                         {"strides", Dims{stride, stride}},
                                         {"pads", Dims{pad, pad, pad, pad}},
                                         {"ceil_mode", int64_t(options.ceil)}});
  const std::string inputs[] = {x.name};
  const int64_t h = PooledSize(x.dims[2], window, options);
  const int64_t w = PooledSize(x.dims[3], window, options);
  return Node(op, inputs, {x.dims[0], x.dims[1], h, w}, gain * x.mean_square, attributes);
}

Tensor GraphBuilder::MaxPool(const Tensor& x, int window, const PoolOptions& options) {
  return Pool("MaxPool", x, window, options, kMaxGain);
}

Tensor GraphBuilder::AveragePool(const Tensor& x, int window, const PoolOptions& options) {
  return Pool("AveragePool", x, window, options, kAverageGain, {{"count_include_pad", int64_t(1)}});
}

Tensor GraphBuilder::GlobalAveragePool(const Tensor& x) {
  const std::string inputs[] = {x.name};
  return Node("GlobalAveragePool", inputs, {x.dims[0], x.dims[1], 1, 1}, kAverageGain * x.mean_square);
}

// The identity in inference; some model files still contain the operator.
Tensor GraphBuilder::Dropout(const Tensor& x) { return Unary("Dropout", x, x.mean_square); }

Tensor GraphBuilder::Flatten(const Tensor& x) {
  const std::string inputs[] = {x.name};
  const int64_t features = std::accumulate(x.dims.begin() + 1, x.dims.end(), int64_t{1}, std::multiplies<>());
  const Attribute attributes[] = {{"axis", int64_t(1)}};
  return Node("Flatten", inputs, {x.dims[0], features}, x.mean_square, attributes);
}

Tensor GraphBuilder::Add(const Tensor& x, const Tensor& y) {
  const std::string inputs[] = {x.name, y.name};
  return Node("Add", inputs, BroadcastDims(x.dims, y.dims), x.mean_square + y.mean_square);
}

Tensor GraphBuilder::Mul(const Tensor& x, const Tensor& y) {
  const std::string inputs[] = {x.name, y.name};
  return Node("Mul", inputs, BroadcastDims(x.dims, y.dims), x.mean_square * y.mean_square);
}

Tensor GraphBuilder::Scaled(const Tensor& x, float factor) {
  const std::string inputs[] = {x.name, Scalar(factor)};
  return Node("Mul", inputs, x.dims, double(factor) * factor * x.mean_square);
}

Tensor GraphBuilder::MatMul(const Tensor& x, const Tensor& y) {
  Dims dims = x.dims;
  dims.back() = y.dims.back();
  const std::string inputs[] = {x.name, y.name};
  return Node("MatMul", inputs, dims, double(x.dims.back()) * x.mean_square * y.mean_square);
}

Tensor GraphBuilder::Embedding(const Tensor& tokens, int64_t count, int64_t features) {
  const Tensor table = Parameter({count, features}, 1);
  Dims dims = tokens.dims;
  dims.push_back(features);
  const std::string inputs[] = {table.name, tokens.name};
  return Node("Gather", inputs, dims, 1);
}

Tensor GraphBuilder::OneHot(const Tensor& tokens, int64_t depth) {
  const std::string name = "onehot_" + std::to_string(nodes_ + 1);
  const float values[] = {0, 1};
  Dims dims = tokens.dims;
  dims.push_back(depth);
  const std::string inputs[] = {tokens.name, Constant(name + ".depth", {1}, std::span(&depth, 1)),
                                Constant(name + ".values", {2}, values)};
  return Node("OneHot", inputs, dims, 1 / double(depth));
}

Tensor GraphBuilder::Known(const Dims& dims, std::span<const float> values) {
  return {Constant("known_" + std::to_string(++nodes_), dims, values), dims};
}

Tensor GraphBuilder::Parameter(const Dims& dims, double std) {
  const std::string name = "parameter_" + std::to_string(++nodes_);
  return {Weights(name, dims, std), dims, std * std};
}

}  // namespace mete::zoo
