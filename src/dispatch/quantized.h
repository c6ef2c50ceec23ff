// Selects the quantized convolutions that the f32 kernels compute, and the conversions between bytes and
// floats that have a fast kernel. As in dispatch/products.h, the result never depends on the machine.
//
// Sums of integers are exact in f32 in any order as long as no partial sum reaches 2^24 (not with Winograd's
// algorithm, whose transformed weights are fractions). The weights are known, so the largest possible sum is
// known too: 255 * sum |w|, with the bias. Where this bound is too large for a channel, the reference
// computes the node.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "kernels/fast/conv/conv.h"

namespace mete {

// The type of a tensor and its one zero point.
struct Level {
  DType type = DType::kU8;
  float zero = 0;

  float least() const { return (type == DType::kI8 ? -128.f : 0.f) - zero; }
  float most() const { return (type == DType::kI8 ? 127.f : 255.f) - zero; }
  float largest() const { return std::max(-least(), most()); }
};

struct QuantizedConvolution {
  ConvShape shape;
  Level x, y;
  std::vector<float> scale;  // per output channel: the factor from a sum to steps of y
  std::vector<float> bias;

  std::string kernel() const;
};

// Returns the convolution of a QLinearConv. Returns nothing if only the reference kernel can compute it;
// `why` then receives the reason.
std::optional<QuantizedConvolution> QuantizedConvolutionOf(const Graph& graph, const Node& node,
                                                           std::string* why);

// Returns the weights of such a convolution minus their zero points, of which channels may have their own.
std::vector<float> QuantizedWeights(const Graph& graph, const Node& node);

struct Conversion {
  bool to_bytes = false;
  float scale = 1;
  Level level;
  int64_t elements = 0;

  std::string kernel() const { return to_bytes ? "quantize_f32" : "dequantize_f32"; }
};

// The same for a QuantizeLinear or a DequantizeLinear.
std::optional<Conversion> ConversionOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
