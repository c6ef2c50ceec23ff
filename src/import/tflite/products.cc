// Conversions of convolutions and products of matrices.
#include <algorithm>
#include <cstring>

#include "import/tflite/window.h"

namespace mete::tflite_import {

void CheckWindow(const Op& op, const Window& window) {
  constexpr int64_t kMost = 1 << 20;  // products of a kernel and a dilation are far from an overflow
  for (const Ints* numbers : {&window.kernel, &window.stride, &window.dilation})
    for (int64_t n : *numbers)
      if (n < 1 || n > kMost)
        op.Bad("a kernel, stride or dilation is out of range; got {}, expected 1 to {}", n, kMost);
}

int64_t PaddingOf(tflite::Padding padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation) {
  if (padding == tflite::Padding::VALID) return 0;
  const int64_t out = (in + stride - 1) / stride, span = (kernel - 1) * dilation + 1;
  return std::max<int64_t>((out - 1) * stride + span - in, 0);
}

Attributes AttributesOf(const Op& op, const Window& window, tflite::Padding padding, const Shape& in) {
  const size_t sides = window.kernel.size();
  if (in.rank() != int(sides) + 2)
    op.Bad("{} needs {} dimensions; got {}", op.kind(), sides + 2, ToString(in));
  CheckWindow(op, window);
  Ints begins, ends;
  for (size_t i = 0; i < sides; ++i) {
    const int64_t both =
        PaddingOf(padding, in[int(i) + 1], window.kernel[i], window.stride[i], window.dilation[i]);
    begins.push_back(both / 2);
    ends.push_back(both - both / 2);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  Attributes a;
  a.Set("kernel_shape", window.kernel);
  a.Set("strides", window.stride);
  if (window.dilation != Ints(sides, 1)) a.Set("dilations", window.dilation);
  a.Set("pads", begins);
  return a;
}

namespace {

// Returns the height and the width of weights whose dimensions 1 and 2 they are.
Ints KernelOf(const Op& op, int weights) {
  const Shape w = op.shape(weights);
  if (w.rank() != 4) op.Bad("the weights need 4 dimensions; got {}", ToString(w));
  return {w[1], w[2]};
}

void Convolve(const Op& op, const Ints& perm, int64_t groups, Attributes attributes,
              tflite::Activation activation) {
  if (groups > 1) attributes.Set("group", groups);
  std::vector<ValueId> inputs = {op.in(0, Order::kPlanar), op.Weights(1, perm)};
  if (const ValueId bias = op.Bias(2, 0, 1); bias != kNoValue) inputs.push_back(bias);
  op.Out(0, Order::kPlanar,
         op.Activated(op.Emit("Conv", std::move(inputs), std::move(attributes)), activation));
}

// The weights are O, H, W, I.
void Conv2D(Op& op) {
  const auto& o = op.Need<tflite::Conv2DOptions>();
  const Window window{KernelOf(op, 1), {o.stride_h(), o.stride_w()}, {o.dilation_h(), o.dilation_w()}};
  const Attributes attributes = AttributesOf(op, window, o.padding(), op.shape());
  const int64_t channels = op.shape()[3], of_group = op.shape(1)[3];
  if (of_group < 1 || channels % of_group != 0)
    op.Bad("the weights do not fit the input; got {} for {}", ToString(op.shape(1)), ToString(op.shape()));
  Convolve(op, {0, 3, 1, 2}, channels / of_group, attributes, o.activation());
}

// The weights are 1, H, W, C * multiplier.
void DepthwiseConv2D(Op& op) {
  const auto& o = op.Need<tflite::DepthwiseConv2DOptions>();
  const Window window{KernelOf(op, 1), {o.stride_h(), o.stride_w()}, {o.dilation_h(), o.dilation_w()}};
  const Attributes attributes = AttributesOf(op, window, o.padding(), op.shape());
  const int64_t channels = op.shape()[3];
  const Shape w = op.shape(1);
  if (w[0] != 1 || channels < 1 || w[3] % channels != 0)
    op.Bad("the weights do not fit the input; got {} for {}", ToString(w), ToString(op.shape()));
  Convolve(op, {3, 0, 1, 2}, channels, attributes, o.activation());
}

// The weights are D, H, W, I, O.
void Conv3D(Op& op) {
  const auto& o = op.Need<tflite::Conv3DOptions>();
  const Shape in = op.shape(), w = op.shape(1);
  if (in.rank() != 5 || w.rank() != 5 || w[3] != in[4])
    op.Bad("the weights do not fit the input; got {} for {}", ToString(w), ToString(in));
  const Window window{{w[0], w[1], w[2]},
                      {o.stride_d(), o.stride_h(), o.stride_w()},
                      {o.dilation_d(), o.dilation_h(), o.dilation_w()}};
  std::vector<ValueId> inputs = {op.Transpose(op.in(), {0, 4, 1, 2, 3}), op.Weights(1, {4, 3, 0, 1, 2})};
  if (const ValueId bias = op.Bias(2, 0, 1); bias != kNoValue) inputs.push_back(bias);
  const ValueId y = op.Emit("Conv", std::move(inputs), AttributesOf(op, window, o.padding(), in));
  op.Out(0, Order::kFile, op.Activated(op.Transpose(y, {0, 2, 3, 4, 1}), o.activation()));
}

// A transposed convolution. The padding is that of the convolution which makes its input of its output.
struct Transposed {
  int x, weights, bias;  // the numbers of its inputs; the weights are O, H, W, I
  Window window;
  Ints size;     // height and width of the output
  Ints padding;  // in both directions, of height and width; half of it is at the beginning
};

ValueId ConvTranspose(const Op& op, const Transposed& t) {
  const Shape in = op.shape(t.x);
  Ints begins, ends, more;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t stride = t.window.stride[i], size = t.size[i];
    const int64_t whole = (in[int(i) + 1] - 1) * stride + t.window.kernel[i];
    const int64_t end = whole - t.padding[i] / 2 - size;
    if (size < 1 || -end >= stride)
      op.Bad("the output's size does not fit; got {} of {} by a stride of {}", size, in[int(i) + 1], stride);
    begins.push_back(t.padding[i] / 2);
    ends.push_back(std::max<int64_t>(end, 0));
    more.push_back(std::max<int64_t>(-end, 0));
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  Attributes a;
  a.Set("strides", t.window.stride);
  a.Set("pads", begins);
  a.Set("output_padding", more);
  std::vector<ValueId> inputs = {op.in(t.x, Order::kPlanar), op.Weights(t.weights, {3, 0, 1, 2})};
  if (const ValueId bias = op.Bias(t.bias, t.x, t.weights); bias != kNoValue) inputs.push_back(bias);
  return op.Emit("ConvTranspose", std::move(inputs), std::move(a));
}

// The shape of the output is input 0.
void TransposeConv(Op& op) {
  const auto& o = op.Need<tflite::TransposeConvOptions>();
  Transposed t{2, 1, 3, {KernelOf(op, 1), {o.stride_h(), o.stride_w()}}, {}, {}};
  CheckWindow(op, t.window);
  const Ints out = op.IntsOf(0, "output shape");
  const Shape in = op.shape(2);
  if (out.size() != 4 || in.rank() != 4) op.Bad("{} needs 4 dimensions; got {}", op.kind(), ToString(in));
  t.size = {out[1], out[2]};
  for (size_t i = 0; i < 2; ++i)
    t.padding.push_back(PaddingOf(o.padding(), t.size[i], t.window.kernel[i], t.window.stride[i], 1));
  op.Out(0, Order::kPlanar, op.Activated(ConvTranspose(op, t), o.activation()));
}

void FullyConnected(Op& op) {
  const auto& o = op.Need<tflite::FullyConnectedOptions>();
  if (o.shuffled_weights() != 0) op.Unsupported("its weights are shuffled");
  const Shape in = op.shape(), w = op.shape(1);
  if (w.rank() != 2 || w[1] < 1 || in.Elements() % w[1] != 0)
    op.Bad("the weights do not fit the input; got {} for {}", ToString(w), ToString(in));
  const int64_t rows = in.Elements() / w[1];
  Shape out{rows, w[0]};
  if (o.keep_num_dims() && in.rank() > 0) {
    out = in;
    out[in.rank() - 1] = w[0];
  }
  Attributes a;
  a.Set("transB", int64_t{1});
  std::vector<ValueId> inputs = {op.Reshape(op.in(), {rows, w[1]}), op.Weights(1, {0, 1})};
  if (const ValueId bias = op.Bias(2, 0, 1); bias != kNoValue) inputs.push_back(bias);
  op.Out(0, Order::kFile, op.Activated(op.Emit("Gemm", std::move(inputs), a), o.activation()), out);
}

ValueId Adjoint(const Op& op, ValueId x, bool adjoint) {
  const int rank = op.ShapeOf(x).rank();
  if (!adjoint) return x;
  if (rank < 2) op.Bad("{} needs 2 dimensions; got {}", op.kind(), rank);
  Ints perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[size_t(rank) - 1], perm[size_t(rank) - 2]);
  return op.Transpose(x, perm);
}

void BatchMatMul(Op& op) {
  const auto* o = op.Find<tflite::BatchMatMulOptions>();
  const ValueId a = Adjoint(op, op.in(0), o && o->adj_x()), b = Adjoint(op, op.in(1), o && o->adj_y());
  op.Out(0, Order::kFile, op.Emit("MatMul", {a, b}));
}

using Code = tflite::BuiltinOperator;

constexpr Row kProductsRows[] = {
    {Code::BATCH_MATMUL, 2, 2, 1, BatchMatMul},
    {Code::CONV_2D, 2, 3, 1, Conv2D},
    {Code::CONV_3D, 2, 3, 1, Conv3D},
    {Code::DEPTHWISE_CONV_2D, 2, 3, 1, DepthwiseConv2D},
    {Code::FULLY_CONNECTED, 2, 3, 1, FullyConnected},
    {Code::TRANSPOSE_CONV, 3, 4, 1, TransposeConv},
};

}  // namespace

std::span<const Row> ProductRows() { return kProductsRows; }

// MediaPipe's operator has the padding and the stride, width first, as three integers of 32 bits, and
// computes the output's size, which for SAME is not always a multiple of the input's.
void ConvertTransposeConvBias(Op& op) {
  constexpr size_t kBytes = 3 * sizeof(int32_t);  // newer writers have more behind them
  const auto bytes = op.custom_options();
  if (bytes.size() < kBytes)
    op.Bad("its options are too short; got {} bytes, expected at least {}", bytes.size(), kBytes);
  int32_t options[3];
  std::memcpy(options, bytes.data(), kBytes);
  const int32_t same = 1, valid = 2;
  if (options[0] != same && options[0] != valid)
    op.Bad("the padding is unknown; got {}, expected {} (SAME) or {} (VALID)", options[0], same, valid);
  const Shape in = op.shape();
  if (in.rank() != 4) op.Bad("{} needs 4 dimensions; got {}", op.kind(), ToString(in));
  Transposed t{0, 1, 2, {KernelOf(op, 1), {options[2], options[1]}}, {}, {}};
  CheckWindow(op, t.window);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t steps = in[int(i) + 1] - 1, kernel = t.window.kernel[i], stride = t.window.stride[i];
    t.padding.push_back(options[0] == same ? std::max<int64_t>(0, kernel - steps % stride - 1) : 0);
    t.size.push_back(steps * stride + kernel - t.padding[i]);
  }
  op.Out(0, Order::kPlanar, ConvTranspose(op, t));
}

}  // namespace mete::tflite_import
