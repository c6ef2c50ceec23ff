#include <algorithm>

#include "base/fused.h"
#include "base/window.h"
#include "dispatch/activations.h"
#include "kernels/fast/conv/window.h"
#include "processor/opencl/kernels/window.h"
#include "processor/opencl/share/families.h"
#include "processor/opencl/share/winograd_conv.h"

namespace mete::opencl {
namespace {

ProductArrays ArraysOf(Lowering& to, const Node& node) {
  ProductArrays arrays{to.Of(node.inputs[0]), to.Of(node.inputs[1]), to.Of(node.outputs[0]), {}, {}};
  if (node.input(2) != kNoValue) arrays.bias = to.As(to.Of(node.inputs[2]), DType::kF32);
  if (node.attributes.Has("residual")) arrays.residual = to.As(to.Of(node.inputs[3]), arrays.output.type);
  return arrays;
}

void AppendTo(std::vector<Array>& arguments, const std::optional<Array>& array) {
  if (array) arguments.push_back(*array);
}

void LowerDepthwise(Lowering& to, DepthwiseSpec spec, const ProductArrays& arrays) {
  const ConvShape& s = spec.shape;
  const int64_t taps = s.kernel_height * s.kernel_width;
  const Array weights = to.Derived(arrays.weights, to.storage(), {taps, s.in_channels});
  to.Move(arrays.weights, weights,
          {.sizes = {taps, s.in_channels},
           .inputs = {{.strides = {1, taps}}},
           .output = {.strides = {s.in_channels, 1}},
           .program = {}});
  spec.input = arrays.input.type;
  spec.weights = weights.type;
  spec.output = arrays.output.type;
  spec.bias = arrays.bias.has_value();
  spec.residual = arrays.residual.has_value();
  std::vector<Array> arguments{arrays.input, weights};
  AppendTo(arguments, arrays.bias);
  AppendTo(arguments, arrays.residual);
  arguments.push_back(arrays.output);
  to.Launch(DepthwiseKernel(spec, to.vector(), int(std::min(s.out_width, kDepthwiseColumns))), arguments);
}

}  // namespace

std::string LowerConvolution(Lowering& to, const Node& node) {
  if (!AreF32(to.graph(), node, {0, 1})) return "not f32";
  if (!IsNhwc(node.attributes)) return "not an image with channels last";
  if (!FastActivation(node)) return "the activation has no text";
  const ValueId into = node.input(size_t(kIntoInput));
  if (into != kNoValue && to.Of(into).buffer != to.Of(node.outputs[0]).buffer)
    return "the channels that it continues lie elsewhere";
  const ProductArrays arrays = ArraysOf(to, node);
  const ConvShape shape =
      ConvShapeOf(arrays.input.shape, arrays.weights.shape, arrays.output.shape, node.attributes);
  const Activation activation = *FastActivation(node);
  const int64_t first = node.attributes.Int(kIntoOffset, 0);
  if (IsDepthwise(shape)) {
    LowerDepthwise(to, {.shape = shape, .output_first = first, .activation = activation}, arrays);
  } else {
    const ConvSpec spec{.shape = shape, .activation = activation, .output_first = first};
    if (const int side = WinogradSide(to, spec)) LowerWinograd(to, spec, side, arrays);
    else LowerImplicitProduct(to, spec, OnnxWeights(shape, false), arrays);
  }
  return "";
}

}  // namespace mete::opencl
