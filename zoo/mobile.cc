// Networks with depthwise convolutions.
#include <algorithm>

#include "zoo/architectures.h"

namespace mete::zoo {
namespace {

enum class Act { kNone, kRelu, kRelu6, kSwish, kHardSwish };

Tensor Activate(GraphBuilder& b, const Tensor& x, Act act) {
  switch (act) {
    case Act::kNone: return x;
    case Act::kRelu: return b.Relu(x);
    case Act::kRelu6: return b.Relu6(x);
    case Act::kSwish: return b.Swish(x);
    case Act::kHardSwish: return b.HardSwish(x);
  }
  return x;
}

Tensor Unit(GraphBuilder& b, const Tensor& x, int channels, int window, int stride, Act act) {
  return Activate(b, b.BatchNorm(b.Conv(x, channels, window, {.stride = stride})), act);
}

Tensor Depthwise(GraphBuilder& b, const Tensor& x, int window, int stride, Act act, int dilation = 1) {
  const int channels = int(x.dims[1]);
  return Activate(
      b,
      b.BatchNorm(b.Conv(x, channels, window, {.stride = stride, .groups = channels, .dilation = dilation})),
      act);
}

Tensor Separable(GraphBuilder& b, const Tensor& x, int channels, int stride, int dilation = 1) {
  return Unit(b, Depthwise(b, x, 3, stride, Act::kRelu, dilation), channels, 1, 1, Act::kRelu);
}

// Scales each channel by a gate that is computed from all channels' averages.
Tensor SqueezeExcite(GraphBuilder& b, const Tensor& x, int squeezed, bool hard) {
  const Tensor down = b.Conv(b.GlobalAveragePool(x), squeezed, 1, {.bias = true});
  const Tensor up = b.Conv(hard ? b.Relu(down) : b.Swish(down), int(x.dims[1]), 1, {.bias = true});
  return b.Mul(x, hard ? b.HardSigmoid(up) : b.Sigmoid(up));
}

struct Inverted {
  int expanded, channels, window, stride;
  Act act;
  int squeezed = 0;  // channels of the squeeze-excite's narrow layer; 0: no squeeze-excite
};

// The inverted residual of MobileNet v2 and v3 and of EfficientNet.
Tensor InvertedResidual(GraphBuilder& b, const Tensor& x, const Inverted& p) {
  Tensor y = p.expanded == x.dims[1] ? x : Unit(b, x, p.expanded, 1, 1, p.act);
  y = Depthwise(b, y, p.window, p.stride, p.act);
  if (p.squeezed > 0) y = SqueezeExcite(b, y, p.squeezed, p.act != Act::kSwish);
  y = Unit(b, y, p.channels, 1, 1, Act::kNone);
  return p.stride == 1 && x.dims[1] == p.channels ? b.Add(x, y) : y;
}

void Head(GraphBuilder& b, const Tensor& x) {
  b.Output(b.Dense(b.Dropout(b.Flatten(b.GlobalAveragePool(x))), 1000), "logits");
}

// Interleaves the channels of the two halves: channel c of group g becomes channel g of pair c.
Tensor Shuffle(GraphBuilder& b, const Tensor& x) {
  const int64_t half = x.dims[1] / 2, h = x.dims[2], w = x.dims[3];
  return b.Reshape(b.Transpose(b.Reshape(x, {1, 2, half, h, w}), {0, 2, 1, 3, 4}), x.dims);
}

Tensor ShuffleBranch(GraphBuilder& b, const Tensor& x, int channels, int stride) {
  const Tensor y = Depthwise(b, Unit(b, x, channels, 1, 1, Act::kRelu), 3, stride, Act::kNone);
  return Unit(b, y, channels, 1, 1, Act::kRelu);
}

Tensor ShuffleUnit(GraphBuilder& b, const Tensor& x, int channels, bool down) {
  if (!down) {
    const std::vector<Tensor> halves = b.Split(x, 2, 1);
    const Tensor parts[] = {halves[0], ShuffleBranch(b, halves[1], channels / 2, 1)};
    return Shuffle(b, b.Concat(parts, 1));
  }
  const Tensor parts[] = {Unit(b, Depthwise(b, x, 3, 2, Act::kNone), channels / 2, 1, 1, Act::kRelu),
                          ShuffleBranch(b, x, channels / 2, 2)};
  return Shuffle(b, b.Concat(parts, 1));
}

}  // namespace

// Howard et al. 2017, width 1.
void MobileNetV1(GraphBuilder& b) {
  Tensor x = Unit(b, b.Image(3, 224, 224), 32, 3, 2, Act::kRelu);
  const int blocks[][2] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                           {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  for (const auto& [channels, stride] : blocks) x = Separable(b, x, channels, stride);
  Head(b, x);
}

// Sandler et al. 2018, width 1.
void MobileNetV2(GraphBuilder& b) {
  struct Stage {
    int expansion, channels, count, stride;
  };
  const Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                          {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  Tensor x = Unit(b, b.Image(3, 224, 224), 32, 3, 2, Act::kRelu6);
  for (const Stage& s : stages) {
    for (int i = 0; i < s.count; ++i) {
      x = InvertedResidual(b, x,
                           {int(x.dims[1]) * s.expansion, s.channels, 3, i == 0 ? s.stride : 1, Act::kRelu6});
    }
  }
  Head(b, Unit(b, x, 1280, 1, 1, Act::kRelu6));
}

// Howard et al. 2019, table 1.
void MobileNetV3Large(GraphBuilder& b) {
  constexpr Act kRe = Act::kRelu, kHs = Act::kHardSwish;
  const Inverted blocks[] = {
      {16, 16, 3, 1, kRe},        {64, 24, 3, 2, kRe},        {72, 24, 3, 1, kRe},
      {72, 40, 5, 2, kRe, 24},    {120, 40, 5, 1, kRe, 32},   {120, 40, 5, 1, kRe, 32},
      {240, 80, 3, 2, kHs},       {200, 80, 3, 1, kHs},       {184, 80, 3, 1, kHs},
      {184, 80, 3, 1, kHs},       {480, 112, 3, 1, kHs, 120}, {672, 112, 3, 1, kHs, 168},
      {672, 160, 5, 2, kHs, 168}, {960, 160, 5, 1, kHs, 240}, {960, 160, 5, 1, kHs, 240}};
  Tensor x = Unit(b, b.Image(3, 224, 224), 16, 3, 2, kHs);
  for (const Inverted& block : blocks) x = InvertedResidual(b, x, block);
  x = b.Flatten(b.GlobalAveragePool(Unit(b, x, 960, 1, 1, kHs)));
  b.Output(b.Dense(b.Dropout(b.HardSwish(b.Dense(x, 1280))), 1000), "logits");
}

// Ma et al. 2018, width 1.
void ShuffleNetV2(GraphBuilder& b) {
  Tensor x = b.MaxPool(Unit(b, b.Image(3, 224, 224), 24, 3, 2, Act::kRelu), 3, {.pad = 1});
  const int stages[][2] = {{116, 4}, {232, 8}, {464, 4}};
  for (const auto& [channels, count] : stages) {
    for (int i = 0; i < count; ++i) x = ShuffleUnit(b, x, channels, i == 0);
  }
  b.Output(b.Dense(b.Flatten(b.GlobalAveragePool(Unit(b, x, 1024, 1, 1, Act::kRelu))), 1000), "logits");
}

// Tan, Le 2019.
void EfficientNetB0(GraphBuilder& b) {
  struct Stage {
    int expansion, channels, count, stride, window;
  };
  const Stage stages[] = {{1, 16, 1, 1, 3},  {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5}, {6, 80, 3, 2, 3},
                          {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3}};
  Tensor x = Unit(b, b.Image(3, 224, 224), 32, 3, 2, Act::kSwish);
  for (const Stage& s : stages) {
    for (int i = 0; i < s.count; ++i) {
      const int in = int(x.dims[1]);
      x = InvertedResidual(
          b, x,
          {in * s.expansion, s.channels, s.window, i == 0 ? s.stride : 1, Act::kSwish, std::max(1, in / 4)});
    }
  }
  Head(b, Unit(b, x, 1280, 1, 1, Act::kSwish));
}

// Papandreou et al. 2018 on MobileNet v1 at an output stride of 16 (its last two blocks are dilated instead):
// heat maps of 17 body parts, their offsets, and the displacements along the skeleton both ways.
void PoseNetMobileNet(GraphBuilder& b) {
  Tensor x = Unit(b, b.Image(3, 257, 257), 32, 3, 2, Act::kRelu6);
  const int blocks[][3] = {{64, 1, 1},  {128, 2, 1},  {128, 1, 1}, {256, 2, 1}, {256, 1, 1},
                           {512, 2, 1}, {512, 1, 1},  {512, 1, 1}, {512, 1, 1}, {512, 1, 1},
                           {512, 1, 1}, {1024, 1, 1}, {1024, 1, 2}};
  for (const auto& [channels, stride, dilation] : blocks) x = Separable(b, x, channels, stride, dilation);
  const std::pair<const char*, int> heads[] = {
      {"heatmaps", 17}, {"offsets", 34}, {"displacements_forward", 32}, {"displacements_backward", 32}};
  for (const auto& [name, channels] : heads) b.Output(b.Conv(x, channels, 1, {.bias = true}), name);
}

}  // namespace mete::zoo
