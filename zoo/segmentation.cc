// Networks that give a class for each pixel.
#include "zoo/architectures.h"
#include "zoo/blocks.h"

namespace mete::zoo {
namespace {

// The mean of many places, a convolution, and that value at every place again.
Tensor ImagePool(GraphBuilder& b, const Tensor& x, int channels) {
  const Tensor pooled = Unit(b, b.GlobalAveragePool(x), channels, 1, 1, Act::kRelu);
  return b.Bilinear(pooled, int(x.dims[2]), int(x.dims[3]));
}

Tensor Twice(GraphBuilder& b, const Tensor& x, int channels) {
  return Unit(b, Unit(b, x, channels, 3, 1, Act::kRelu), channels, 3, 1, Act::kRelu);
}

}  // namespace

// Chen et al. 2017 on MobileNet v2 at an output stride of 16: the last stages are dilated, three dilated
// convolutions, a 1x1 convolution and the image's mean see the same features.
void DeepLabV3(GraphBuilder& b) {
  constexpr int kClasses = 21, kChannels = 256;
  struct Stage {
    int expansion, channels, count, stride, dilation;
  };
  const Stage stages[] = {{1, 16, 1, 1, 1}, {6, 24, 2, 2, 1},  {6, 32, 3, 2, 1}, {6, 64, 4, 2, 1},
                          {6, 96, 3, 1, 1}, {6, 160, 3, 1, 2}, {6, 320, 1, 1, 2}};
  Tensor x = Unit(b, b.Image(3, 257, 257), 32, 3, 2, Act::kRelu6);
  for (const Stage& s : stages) {
    for (int i = 0; i < s.count; ++i) {
      x = InvertedResidual(
          b, x,
          {int(x.dims[1]) * s.expansion, s.channels, 3, i == 0 ? s.stride : 1, Act::kRelu6, 0, s.dilation});
    }
  }
  std::vector<Tensor> parts = {Unit(b, x, kChannels, 1, 1, Act::kRelu)};
  for (const int rate : {6, 12, 18})
    parts.push_back(b.Relu(b.BatchNorm(b.Conv(x, kChannels, 3, {.dilation = rate}))));
  parts.push_back(ImagePool(b, x, kChannels));
  x = b.Dropout(Unit(b, b.Concat(parts, 1), kChannels, 1, 1, Act::kRelu));
  x = b.Conv(Unit(b, x, kChannels, 3, 1, Act::kRelu), kClasses, 1, {.bias = true});
  b.Output(b.Bilinear(x, 257, 257), "scores");
}

// Ronneberger et al. 2015 in the form of Buda et al. 2019: padded, normalised, and half as wide.
void UNet(GraphBuilder& b) {
  Tensor x = b.Image(3, 256, 256);
  std::vector<Tensor> skipped;
  for (const int channels : {32, 64, 128, 256}) {
    skipped.push_back(Twice(b, x, channels));
    x = b.MaxPool(skipped.back(), 2);
  }
  x = Twice(b, x, 512);
  for (const int channels : {256, 128, 64, 32}) {
    const Tensor parts[] = {b.ConvTranspose(x, channels, 2), skipped.back()};
    skipped.pop_back();
    x = Twice(b, b.Concat(parts, 1), channels);
  }
  b.Output(b.Sigmoid(b.Conv(x, 1, 1, {.bias = true})), "mask");
}

}  // namespace mete::zoo
