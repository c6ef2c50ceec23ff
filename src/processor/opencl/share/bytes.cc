// Operators between tensors of bytes (graph/fused.h, 9), and conversions between these and numbers. Bytes are
// those of the CPU's kernels, or of long sums the next ones where the target permits it (byte_sums.h).
#include <algorithm>
#include <optional>

#include "dispatch/bytes.h"
#include "dispatch/quantized.h"
#include "processor/opencl/kernels/window.h"
#include "processor/opencl/share/byte_sums.h"
#include "processor/opencl/share/elementwise.h"
#include "processor/opencl/share/families.h"
#include "processor/opencl/share/implicit_product.h"
#include "processor/opencl/share/reductions.h"

namespace mete::opencl {
namespace {

MapOperand Dense(const Array& array) { return {.type = array.type, .strides = DenseStrides(array.shape)}; }

std::string WhyNotBytes(const QuantizedConvolution& conv) {
  if (conv.sums && conv.scale_input < 0) return "its output is sums";
  if (conv.weights_input >= 0 || conv.zero_input >= 0) return "the weights or zero points are computed";
  for (int64_t m = 1; m < conv.shape.out_channels; ++m)
    if (conv.weight_zero(m) != conv.weight_zero(0)) return "each channel of the weights has a zero point";
  return "";
}

// Whether bytes may be the next ones: a table has others than the next ones for these.
bool MayDiffer(const Lowering& to, const QuantizedConvolution& conv) {
  return to.within_a_level() && !conv.sums && !conv.table;
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
                           .bytes = SumsOf(conv, MayDiffer(to, conv))};
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
  spec.bytes = SumsOf(conv, MayDiffer(to, conv));
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

// Appends the convolution or, with `is_product`, the product.
void LaunchProduct(Lowering& to, const QuantizedConvolution& conv, const ByteArrays& arrays, bool is_product,
                   int64_t first) {
  const ConvShape& s = conv.shape;
  if (IsDepthwise(s) && s.kernel_height * s.kernel_width <= kMostTaps)
    return LaunchDepthwise(to, conv, arrays, first);
  LaunchDirect(to, conv, arrays,
               is_product ? RowsOfK(s.in_channels, s.out_channels, false) : OnnxWeights(s, false), first);
}

// Appends the lookup of all bytes. `spec` has sizes, strides and first elements.
void LaunchLookup(Lowering& to, const Array& input, const Array& table, const Array& output, MapSpec spec) {
  spec.inputs[0].type = spec.output.type = DType::kU8;  // as unsigned numbers
  spec.levels = ByteLookup{};
  to.Launch(MapKernel(spec, to.vector()), {input, table, output});
}

// Appends the convolution, and a lookup that writes where the convolution would have.
void LaunchWithTable(Lowering& to, QuantizedConvolution conv, ByteArrays arrays, const Array& table,
                     int64_t first) {
  const Array output = arrays.output;
  const int64_t channels = conv.shape.out_channels, pixels = conv.shape.out_pixels();
  arrays.output = to.Temporary(conv.y.type, {pixels, channels});
  conv.shape.out_pixel_stride = 0;
  LaunchProduct(to, conv, arrays, /*is_product=*/false, /*first=*/0);
  LaunchLookup(to, arrays.output, table, output,
               {.sizes = {pixels, channels},
                .inputs = {{.strides = {channels, 1}}},
                .output = {.strides = {output.shape.back(), 1}, .first = first},
                .program = {}});
}

// Returns one number for each of `channels` of a constant that has one or as many; nothing for others.
std::optional<std::vector<float>> ByChannel(const Graph& graph, ValueId id, int64_t channels) {
  if (!IsConstant(graph, id) || graph.value(id).type != DType::kF32) return std::nullopt;
  const Tensor& t = graph.value(id).constant;
  if (t.elements() != 1 && t.elements() != channels) return std::nullopt;
  std::vector<float> all(size_t(channels), *t.as<float>());
  if (t.elements() == channels) std::copy_n(t.as<float>(), channels, all.begin());
  return all;
}

}  // namespace

// The sums are exact, also where bytes may differ: nothing says what a level of the output is.
std::string LowerScaledSums(Lowering& to, const Node& node) {
  std::string why;
  const bool is_product = node.op == "mete.ScaledMatMulInteger";
  auto conv = is_product ? QuantizedProductOf(to.graph(), node, &why)
                         : QuantizedConvolutionOf(to.graph(), node, OptionsFor(to.graph()), &why);
  if (!conv) return why;
  if (why = WhyNotBytes(*conv); !why.empty()) return why;
  const int64_t channels = conv->shape.out_channels;
  const auto scale = ByChannel(to.graph(), node.inputs[size_t(conv->scale_input)], channels);
  if (!scale) return "the scale is computed";
  conv->scale = *scale;
  const Array output = to.Of(node.outputs[0]);
  const bool has_bias = conv->bias_input >= 0;
  const auto bias = has_bias ? ByChannel(to.graph(), node.inputs[size_t(conv->bias_input)], channels)
                             : std::vector<float>();
  if (!bias) return "the bias is computed";
  const bool is_last = !has_bias && output.type == DType::kF32;
  const ByteArrays arrays{to.Of(node.inputs[0]),
                          to.Of(node.inputs[1]),
                          to.Constant(Tensor::Floats({channels}, *scale)),
                          is_last ? output : to.Temporary(DType::kF32, output.shape),
                          {}};
  LaunchProduct(to, *conv, arrays, is_product, /*first=*/0);
  if (is_last) return "";
  if (!has_bias) {
    to.Copy(arrays.output, output);
    return "";
  }
  FusedProgram add{.inputs = 2, .steps = 1, .step = {}};
  add.step[0] = {{FusedOp::kAdd}, {0, 1, -1}};
  LowerProgram(to, add, {arrays.output, to.Constant(Tensor::Floats({channels}, *bias))}, output);
  return "";
}

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
  const int64_t first = node.attributes.Int(kIntoOffset, 0);
  if (conv->table) LaunchWithTable(to, *conv, arrays, to.Of(node.inputs[kByteTableInput]), first);
  else LaunchProduct(to, *conv, arrays, node.op == "QLinearMatMul", first);
  return "";
}

std::string LowerByteTable(Lowering& to, const Node& node) {
  const Array input = to.Of(node.inputs[0]), output = to.Of(node.outputs[0]);
  LaunchLookup(to, input, to.Of(node.inputs[1]), output,
               {.sizes = {output.elements()},
                .inputs = {{.strides = {1}}},
                .output = {.strides = {1}},
                .program = {}});
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
