#include "base/window.h"
#include "dispatch/activations.h"
#include "processor/opencl/share/families.h"
#include "processor/opencl/share/implicit_product.h"

namespace mete::opencl {
namespace {

// Returns the input with zeros between its pixels, `stride` pixels apart.
Array Spread(Lowering& to, const Array& input, const Window& window) {
  const Shape& x = input.shape;
  const int64_t n = x[0], h = x[1], w = x[2], channels = x[3];
  const Shape wide{n, (h - 1) * window[1].stride + 1, (w - 1) * window[2].stride + 1, channels};
  const Array spread = to.Temporary(input.type, wide);
  const Array zero = to.Constant(Tensor(DType::kF32, {}));
  to.Move(
      zero, spread,
      {.sizes = {wide.Elements()}, .inputs = {{.strides = {0}}}, .output = {.strides = {1}}, .program = {}});
  const std::vector<int64_t> strides = DenseStrides(wide);
  to.Move(
      input, spread,
      {.sizes = {n, h, w, channels},
       .inputs = {{.strides = DenseStrides(x)}},
       .output = {.strides = {strides[0], strides[1] * window[1].stride, strides[2] * window[2].stride, 1}},
       .program = {}});
  return spread;
}

// Returns the weights of the convolution: taps in reverse order, input and output channels of a group
// changed.
Array Turned(Lowering& to, const Array& weights, int64_t groups) {
  const Shape& w = weights.shape;
  const int64_t in = w[0] / groups, out = w[1], height = w[2], width = w[3], taps = height * width;
  const Array turned = to.Derived(weights, weights.type, {groups * out, in, height, width});
  to.Move(weights, turned,
          {.sizes = {groups, out, in, height, width},
           .inputs = {{.strides = {in * out * taps, taps, out * taps, -width, -1}, .first = taps - 1}},
           .output = {.strides = {out * in * taps, in * taps, taps, width, 1}},
           .program = {}});
  return turned;
}

}  // namespace

// The convolution of the input with zeros between its pixels, for those that the pass
// transposed-convolutions leaves alone.
std::string LowerTransposedConvolution(Lowering& to, const Node& node) {
  if (!AreF32(to.graph(), node, {0, 1})) return "not f32";
  if (!IsNhwc(node.attributes)) return "not an image with channels last";
  if (!FastActivation(node)) return "the activation has no text";
  const Array input = to.Of(node.inputs[0]), weights = to.Of(node.inputs[1]), output = to.Of(node.outputs[0]);
  Window window;
  const std::array<int64_t, 2> kernel = {weights.shape[2], weights.shape[3]};
  if (std::string problem = ResolveTransposedWindow(
          node.attributes, ImageDimsOf(input.shape, TensorOrder::kNhwc), kernel, window);
      !problem.empty())
    return problem;
  const auto pad = [&](int i) { return window[size_t(i)].extent() - 1 - window[size_t(i)].pad; };
  if (pad(1) < 0 || pad(2) < 0) return "it leaves out inputs at the edge";
  const int64_t groups = node.attributes.Int("group", 1);
  const Array spread = Spread(to, input, window);
  ConvSpec spec{.shape = {.batch = input.shape[0],
                          .in_height = spread.shape[1],
                          .in_width = spread.shape[2],
                          .in_channels = input.shape[3],
                          .out_height = output.shape[1],
                          .out_width = output.shape[2],
                          .out_channels = output.shape[3],
                          .kernel_height = kernel[0],
                          .kernel_width = kernel[1],
                          .dilation_y = window[1].dilation,
                          .dilation_x = window[2].dilation,
                          .pad_top = pad(1),
                          .pad_left = pad(2),
                          .groups = groups},
                .activation = *FastActivation(node)};
  ProductArrays arrays{spread, Turned(to, weights, groups), output, {}, {}};
  if (node.input(2) != kNoValue) arrays.bias = to.As(to.Of(node.inputs[2]), DType::kF32);
  if (node.attributes.Has("residual")) arrays.residual = to.As(to.Of(node.inputs[3]), output.type);
  LowerImplicitProduct(to, spec, OnnxWeights(spec.shape, false), arrays);
  return "";
}

}  // namespace mete::opencl
