// Networks with depthwise convolutions.
#include <algorithm>

#include "zoo/architectures.h"
#include "zoo/blocks.h"

namespace mete::zoo {
namespace {

Tensor Separable(GraphBuilder& b, const Tensor& x, int channels, int stride, int dilation = 1) {
  return Unit(b, Depthwise(b, x, 3, stride, Act::kRelu, dilation), channels, 1, 1, Act::kRelu);
}

// ShuffleNet v1's unit. The first 1x1 convolution has groups except in the first unit of all.
Tensor GroupShuffleUnit(GraphBuilder& b, const Tensor& x, int channels, int groups, int first_groups) {
  const bool down = x.dims[1] != channels;
  const int narrow = channels / 4, computed = down ? channels - int(x.dims[1]) : channels;
  Tensor y = b.Relu(b.BatchNorm(b.Conv(x, narrow, 1, {.groups = first_groups})));
  y = Depthwise(b, Shuffle(b, y, groups), 3, down ? 2 : 1, Act::kNone);
  // The mean of a residual branch's last scale is small, as in residual.cc.
  y = b.BatchNorm(b.Conv(y, computed, 1, {.groups = groups}), down ? 1 : 0.4f);
  if (!down) {
    Tensor sum = b.Relu(b.Add(y, x));
    sum.mean_square = x.mean_square + y.mean_square / 2;  // x is positive already
    return sum;
  }
  const Tensor parts[] = {y, b.AveragePool(x, 3, {.pad = 1})};
  return b.Relu(b.Concat(parts, 1));
}

// MobileNet v4's universal inverted bottleneck. A window of 0 omits the depthwise convolution.
struct Universal {
  int start, middle, stride, expansion, channels;
};

Tensor UniversalBlock(GraphBuilder& b, const Tensor& x, const Universal& p) {
  const int expanded = int(x.dims[1]) * p.expansion;
  Tensor y = p.start ? Depthwise(b, x, p.start, p.middle ? 1 : p.stride, Act::kNone) : x;
  y = Unit(b, y, expanded, 1, 1, Act::kRelu);
  if (p.middle) y = Depthwise(b, y, p.middle, p.stride, Act::kRelu);
  y = Unit(b, y, p.channels, 1, 1, Act::kNone);
  return y.dims == x.dims ? b.Add(y, x) : y;
}

void Head(GraphBuilder& b, const Tensor& x) {
  b.Output(b.Dense(b.Dropout(b.Flatten(b.GlobalAveragePool(x))), 1000), "logits");
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

// Zhang et al. 2017, width 1, three groups.
void ShuffleNetV1(GraphBuilder& b) {
  constexpr int kGroups = 3;
  Tensor x = b.MaxPool(Unit(b, b.Image(3, 224, 224), 24, 3, 2, Act::kRelu), 3, {.pad = 1});
  const int stages[][2] = {{240, 4}, {480, 8}, {960, 4}};
  for (const auto& [channels, count] : stages) {
    for (int i = 0; i < count; ++i)
      x = GroupShuffleUnit(b, x, channels, kGroups, x.dims[1] == 24 ? 1 : kGroups);
  }
  b.Output(b.Dense(b.Flatten(b.GlobalAveragePool(x)), 1000), "logits");
}

// Ma et al. 2018, width 1.
void ShuffleNetV2(GraphBuilder& b) {
  Tensor x = b.MaxPool(Unit(b, b.Image(3, 224, 224), 24, 3, 2, Act::kRelu), 3, {.pad = 1});
  const int stages[][2] = {{116, 4}, {232, 8}, {464, 4}};
  for (const auto& [channels, count] : stages) {
    for (int i = 0; i < count; ++i) x = ShuffleUnit(b, x, channels, i == 0, Act::kRelu);
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

// Qin et al. 2024: Conv-S.
void MobileNetV4Small(GraphBuilder& b) {
  Tensor x = Unit(b, b.Image(3, 224, 224), 32, 3, 2, Act::kRelu);
  x = Unit(b, Unit(b, x, 32, 3, 2, Act::kRelu), 32, 1, 1, Act::kRelu);
  x = Unit(b, Unit(b, x, 96, 3, 2, Act::kRelu), 64, 1, 1, Act::kRelu);
  const Universal blocks[] = {{5, 5, 2, 3, 96},  {0, 3, 1, 2, 96},  {0, 3, 1, 2, 96},  {0, 3, 1, 2, 96},
                              {0, 3, 1, 2, 96},  {3, 0, 1, 4, 96},  {3, 3, 2, 6, 128}, {5, 5, 1, 4, 128},
                              {0, 5, 1, 4, 128}, {0, 5, 1, 3, 128}, {0, 3, 1, 4, 128}, {0, 3, 1, 4, 128}};
  for (const Universal& block : blocks) x = UniversalBlock(b, x, block);
  x = Unit(b, b.GlobalAveragePool(Unit(b, x, 960, 1, 1, Act::kRelu)), 1280, 1, 1, Act::kRelu);
  b.Output(b.Dense(b.Flatten(x), 1000), "logits");
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
