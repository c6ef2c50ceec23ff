// Selects the convolutions of bytes that have a fast kernel, and the conversions between bytes and floats. As
// in dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dispatch/options.h"
#include "graph/graph.h"
#include "kernels/fast/bytes/byte_conv.h"

namespace mete {

// The type of a tensor and its one zero point.
struct Level {
  DType type = DType::kU8;
  float zero = 0;

  float least() const { return (type == DType::kI8 ? -128.f : 0.f) - zero; }
  float most() const { return (type == DType::kI8 ? 127.f : 255.f) - zero; }
};

inline bool KnownAndNotEmpty(const Shape& s) { return s.known() && s.Elements() > 0; }

// Returns the constant zero point of a tensor of bytes; nothing if there is no single constant one.
std::optional<Level> LevelOf(const Graph& graph, ValueId id);
// The same for the scale.
std::optional<float> ScaleOf(const Graph& graph, ValueId id);

struct QuantizedConvolution {
  ConvShape shape;
  Level x, y;
  float least = 0, most = 0;  // bounds of y, in steps from its zero point
  std::vector<float> scale;   // per output channel: the factor from a sum to steps of y
  ByteWeights weights;        // in the graph's memory
  // Per output channel; empty if all of them are the one that needs no correction (MinusWeightZero).
  std::vector<int32_t> minus_weight_zeros;
  const int32_t* bias = nullptr;  // in the graph's memory; may be null
  bool sums = false;              // the output is the sums, as i32: y and scale are unused
  // The inputs with the scale and the bias of the sums, so that the output is f32; -1: there is none. The
  // sums are as with `sums`.
  int scale_input = -1, bias_input = -1;
  const uint8_t* table = nullptr;  // in the graph's memory; may be null
  // The input with the weights if they are computed in each run: then there are `products` of equal shapes,
  // one behind the other in both operands.
  int weights_input = -1;
  int64_t products = 1;
  int zero_input = -1;  // the input with the zero point of x, if that is known at run time only
  // kDirect: with exact sums. Winograd's: with sums in f32, where the node permits it (graph/fused.h, 10).
  // processor/cpu chooses from them by measuring.
  std::vector<ConvAlgorithm> algorithms = {ConvAlgorithm::kDirect};

  std::string kernel(ConvAlgorithm algorithm = ConvAlgorithm::kDirect) const;  // "conv_bytes"
  std::vector<std::string> kernels() const;                                    // by algorithm
  int32_t weight_zero(int64_t channel) const;  // of the weights as they lie in the graph
};

// Returns the algorithms that can compute this convolution if its sums may be of f32, kDirect first: those
// of which the error is far below a level of the output.
std::vector<ConvAlgorithm> ByteAlgorithmsFor(const QuantizedConvolution& conv);

// Returns the convolution of a QLinearConv, ConvInteger or mete.ScaledConvInteger, or the product of a
// QLinearMatMul, MatMulInteger or mete.ScaledMatMulInteger as a convolution of 1x1 over the rows of its left
// operand. Returns nothing if only the reference kernel can compute it; `why` then receives the reason.
std::optional<QuantizedConvolution> QuantizedConvolutionOf(const Graph& graph, const Node& node,
                                                           const DispatchOptions& options, std::string* why);
std::optional<QuantizedConvolution> QuantizedProductOf(const Graph& graph, const Node& node,
                                                       std::string* why);

struct Conversion {
  bool to_bytes = false;
  float scale = 1;
  Level level;
  int64_t elements = 0;

  std::string kernel() const { return to_bytes ? "quantize_f32" : "dequantize_f32"; }
};

struct DynamicConversion {
  int64_t elements = 0;

  std::string kernel() const { return "dynamic_quantize_f32"; }
};

// The same for a DynamicQuantizeLinear.
std::optional<DynamicConversion> DynamicConversionOf(const Graph& graph, const Node& node, std::string* why);

// The same for a QuantizeLinear or a DequantizeLinear.
std::optional<Conversion> ConversionOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
