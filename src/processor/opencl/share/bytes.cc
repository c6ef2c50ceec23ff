// Operators between tensors of bytes (graph/fused.h, 9), and conversions between these and numbers. Bytes are
// those of the CPU's kernels, or of long sums the next ones where the target permits it (byte_sums.h).
#include <algorithm>
#include <optional>

#include "dispatch/bytes.h"
#include "dispatch/quantized.h"
#include "processor/opencl/kernels/window.h"
#include "processor/opencl/share/byte_sums.h"
#include "processor/opencl/share/families.h"
#include "processor/opencl/share/implicit_product.h"
#include "processor/opencl/share/reductions.h"

namespace mete::opencl {
namespace {

MapOperand Dense(const Array& array) { return {.type = array.type, .strides = DenseStrides(array.shape)}; }

std::string WhyNotBytes(const QuantizedConvolution& conv) {
  if (conv.sums) return "its output is sums";
  if (conv.table) return "its output goes through a table";
  if (conv.weights_input >= 0 || conv.zero_input >= 0) return "the weights are computed";
  for (int64_t m = 1; m < conv.shape.out_channels; ++m)
    if (conv.weight_zero(m) != conv.weight_zero(0)) return "each channel of the weights has a zero point";
  return "";
}

// Returns the type of weights minus their zero point: unsigned ones with a zero point in the middle are
// signed bytes, others are wider.
DType TypeOfWeights(const QuantizedConvolution& conv) {
  const int32_t least = (conv.weights.is_signed ? -128 : 0) - conv.weight_zero(0);
  return least == -128 ? DType::kI8 : DType::kF16;
}

struct ByteArrays {
  Array input, weights, scale, output;
  std::optional<Array> bias;
};

ByteArrays ArraysOf(Lowering& to, const Node& node, const QuantizedConvolution& conv) {
  ByteArrays arrays{to.Of(node.inputs[0]),
                    to.Of(node.inputs[3]),
                    to.Constant(Tensor::Floats({conv.shape.out_channels}, conv.scale)),
                    to.Of(node.outputs[0]),
                    {}};
  if (conv.bias) arrays.bias = to.Of(node.inputs[8]);
  return arrays;
}

void LaunchDepthwise(Lowering& to, const QuantizedConvolution& conv, const ByteArrays& arrays,
                     int64_t first) {
  const ConvShape& s = conv.shape;
  const int64_t taps = s.kernel_height * s.kernel_width;
  const Array weights = to.Derived(arrays.weights, TypeOfWeights(conv), {taps, s.in_channels});
  const MapSpec turned{.sizes = {taps, s.in_channels},
                       .inputs = {{.type = arrays.weights.type, .strides = {1, taps}}},
                       .output = {.type = weights.type, .strides = {s.in_channels, 1}},
                       .program = {},
                       .levels = LevelConversion{.kind = LevelConversion::Kind::kDequantize,
                                                 .zero = float(conv.weight_zero(0))}};
  to.Launch(MapKernel(turned, to.vector()), {arrays.weights, weights});
  const DepthwiseSpec spec{.shape = s,
                           .input = arrays.input.type,
                           .weights = weights.type,
                           .output = arrays.output.type,
                           .output_first = first,
                           .bias = arrays.bias.has_value(),
                           .bytes = SumsOf(conv, to.within_a_level())};
  std::vector<Array> arguments{arrays.input, weights, arrays.scale};
  if (arrays.bias) arguments.push_back(*arrays.bias);
  arguments.push_back(arrays.output);
  to.Launch(DepthwiseKernel(spec, to.vector(), int(std::min(s.out_width, kDepthwiseColumns))), arguments);
}

void LaunchDirect(Lowering& to, const QuantizedConvolution& conv, const ByteArrays& arrays, PackSource source,
                  int64_t first) {
  ConvSpec spec{.shape = conv.shape,
                .input = arrays.input.type,
                .weights = TypeOfWeights(conv),
                .output = arrays.output.type};
  spec.output_first = first;
  spec.bytes = SumsOf(conv, to.within_a_level());
  source.type = arrays.weights.type;
  source.bias = arrays.bias.has_value();
  source.zero = conv.weight_zero(0);
  const Tile tile = to.TileOf(spec);
  const Array packed = to.Derived(arrays.weights, DType::kU8, {PackedSizes(Flattened(spec), tile).bytes});
  std::vector<Array> packing{arrays.weights, arrays.scale};
  if (arrays.bias) packing.push_back(*arrays.bias);
  packing.push_back(packed);
  to.Launch(PackKernel(spec, tile, source), packing);
  to.Launch(ConvKernel(spec, tile), {arrays.input, packed, arrays.output});
}

// Sums of f32 over more taps of a depthwise convolution are not exact (DepthwiseSpec::bytes).
constexpr int64_t kMostTaps = 257;

}  // namespace

std::string LowerByteProduct(Lowering& to, const Node& node) {
  std::string why;
  const auto conv = node.op == "QLinearConv"
                        ? QuantizedConvolutionOf(to.graph(), node, OptionsFor(to.graph()), &why)
                        : QuantizedProductOf(to.graph(), node, &why);
  if (!conv) return why;
  if (why = WhyNotBytes(*conv); !why.empty()) return why;
  const ValueId into = node.input(size_t(IntoInputOf(node.op)));
  const bool continues = node.attributes.Has(kIntoChannels) && into != kNoValue;
  if (continues && to.Of(into).buffer != to.Of(node.outputs[0]).buffer)
    return "the channels that it continues lie elsewhere";
  const ByteArrays arrays = ArraysOf(to, node, *conv);
  const ConvShape& s = conv->shape;
  const int64_t first = node.attributes.Int(kIntoOffset, 0);
  if (IsDepthwise(s) && s.kernel_height * s.kernel_width <= kMostTaps) {
    LaunchDepthwise(to, *conv, arrays, first);
  } else {
    const bool is_product = node.op == "QLinearMatMul";
    LaunchDirect(to, *conv, arrays,
                 is_product ? RowsOfK(s.in_channels, s.out_channels, false) : OnnxWeights(s, false), first);
  }
  return "";
}

std::string LowerByteOperation(Lowering& to, const Node& node) {
  std::string why;
  const auto of = ByteOperationOf(to.graph(), node, &why);
  if (!of) return why;
  const Array a = to.Of(node.inputs[0]), b = to.Of(node.inputs[3]), output = to.Of(node.outputs[0]);
  MapSpec spec{.sizes = {output.shape.begin(), output.shape.end()},
               .inputs = {},
               .output = Dense(output),
               .program = {},
               .levels = of->binary};
  for (const Array& operand : {a, b})
    spec.inputs.push_back(
        {.type = operand.type, .strides = BroadcastStrides(operand.shape.dims(), spec.sizes)});
  to.Launch(MapKernel(spec, to.vector()), {a, b, output});
  return "";
}

std::string LowerLevels(Lowering& to, const Node& node) {
  std::string why;
  const auto of = ConversionOf(to.graph(), node, &why);
  if (!of) return why;
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  using Kind = LevelConversion::Kind;
  const LevelConversion levels{.kind = of->to_bytes ? Kind::kQuantize : Kind::kDequantize,
                               .scale = of->scale,
                               .zero = of->level.zero,
                               .least = of->level.least() + of->level.zero,
                               .most = of->level.most() + of->level.zero};
  const MapSpec spec{.sizes = {output.shape.begin(), output.shape.end()},
                     .inputs = {Dense(input)},
                     .output = Dense(output),
                     .program = {},
                     .levels = levels};
  to.Launch(MapKernel(spec, to.vector()), {input, output});
  return "";
}

namespace {

// The sums of whole images, and one rounding: the order of the CPU's kernel.
void LaunchGlobalAverage(Lowering& to, const BytePooling& of, const Array& input, const Array& output) {
  const auto pixels = float(input.shape[1] * input.shape[2]);
  const Array sums = to.Temporary(DType::kF32, output.shape);
  LaunchReduce(to, ReduceFunction::kSum, {1, 2}, input, sums);
  const MapSpec spec{.sizes = {output.elements()},
                     .inputs = {{.type = sums.type, .strides = {1}}},
                     .output = {.type = output.type, .strides = {1}},
                     .program = {},
                     .levels = LevelConversion{.kind = LevelConversion::Kind::kRescale,
                                               .scale = of.x.scale / (of.y.scale * pixels),
                                               .zero = of.y.zero,
                                               .minus = pixels * of.x.zero,
                                               .least = of.y.is_signed ? -128.0f : 0.0f,
                                               .most = of.y.is_signed ? 127.0f : 255.0f}};
  to.Launch(MapKernel(spec, to.vector()), {sums, output});
}

}  // namespace

std::string LowerBytePool(Lowering& to, const Node& node) {
  std::string why;
  const auto of = BytePoolingOf(to.graph(), node, &why);
  if (!of) return why;
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  if (of->kind == BytePooling::Kind::kGlobalAverage) {
    LaunchGlobalAverage(to, *of, input, output);
    return "";
  }
  std::optional<BytePool> levels;
  if (of->kind == BytePooling::Kind::kAverage)
    levels =
        BytePool{.x_scale = of->x.scale, .x_zero = of->x.zero, .y_scale = of->y.scale, .y_zero = of->y.zero};
  to.Launch(PoolKernel(of->shape, output.type, to.vector(), levels), {input, output});
  return "";
}

}  // namespace mete::opencl
