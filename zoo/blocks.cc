#include "zoo/blocks.h"

namespace mete::zoo {

Tensor Activate(GraphBuilder& b, const Tensor& x, Act act) {
  switch (act) {
    case Act::kNone: return x;
    case Act::kRelu: return b.Relu(x);
    case Act::kRelu6: return b.Relu6(x);
    case Act::kLeaky: return b.LeakyRelu(x, 0.1f);
    case Act::kSwish: return b.Swish(x);
    case Act::kHardSwish: return b.HardSwish(x);
  }
  return x;
}

Tensor Unit(GraphBuilder& b, const Tensor& x, int channels, int window, int stride, Act act) {
  return Activate(b, b.BatchNorm(b.Conv(x, channels, window, {.stride = stride})), act);
}

Tensor Depthwise(GraphBuilder& b, const Tensor& x, int window, int stride, Act act, int dilation) {
  const int channels = int(x.dims[1]);
  return Activate(
      b,
      b.BatchNorm(b.Conv(x, channels, window, {.stride = stride, .groups = channels, .dilation = dilation})),
      act);
}

namespace {

// Scales each channel by a gate that is computed from all channels' averages.
Tensor SqueezeExcite(GraphBuilder& b, const Tensor& x, int squeezed, bool hard) {
  const Tensor down = b.Conv(b.GlobalAveragePool(x), squeezed, 1, {.bias = true});
  const Tensor up = b.Conv(hard ? b.Relu(down) : b.Swish(down), int(x.dims[1]), 1, {.bias = true});
  return b.Mul(x, hard ? b.HardSigmoid(up) : b.Sigmoid(up));
}

Tensor ShuffleBranch(GraphBuilder& b, const Tensor& x, int channels, int stride, Act act) {
  const Tensor y = Depthwise(b, Unit(b, x, channels, 1, 1, act), 3, stride, Act::kNone);
  return Unit(b, y, channels, 1, 1, act);
}

}  // namespace

Tensor InvertedResidual(GraphBuilder& b, const Tensor& x, const Inverted& p) {
  Tensor y = p.expanded == x.dims[1] ? x : Unit(b, x, p.expanded, 1, 1, p.act);
  y = Depthwise(b, y, p.window, p.stride, p.act, p.dilation);
  if (p.squeezed > 0) y = SqueezeExcite(b, y, p.squeezed, p.act != Act::kSwish);
  y = Unit(b, y, p.channels, 1, 1, Act::kNone);
  return p.stride == 1 && x.dims[1] == p.channels ? b.Add(x, y) : y;
}

Tensor Shuffle(GraphBuilder& b, const Tensor& x, int groups) {
  const int64_t channels = x.dims[1] / groups, h = x.dims[2], w = x.dims[3];
  return b.Reshape(b.Transpose(b.Reshape(x, {1, groups, channels, h, w}), {0, 2, 1, 3, 4}), x.dims);
}

Tensor ShuffleUnit(GraphBuilder& b, const Tensor& x, int channels, bool down, Act act) {
  if (!down) {
    const std::vector<Tensor> halves = b.Split(x, 2, 1);
    const Tensor parts[] = {halves[0], ShuffleBranch(b, halves[1], channels / 2, 1, act)};
    return Shuffle(b, b.Concat(parts, 1), 2);
  }
  const Tensor parts[] = {Unit(b, Depthwise(b, x, 3, 2, Act::kNone), channels / 2, 1, 1, act),
                          ShuffleBranch(b, x, channels / 2, 2, act)};
  return Shuffle(b, b.Concat(parts, 1), 2);
}

}  // namespace mete::zoo
