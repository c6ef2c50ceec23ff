// Networks with shortcuts: ResNets, DenseNet, and the body of YOLOv2.
#include "zoo/architectures.h"

namespace mete::zoo {
namespace {

// The mean of the last scale of a residual branch. Trained networks keep it small, so that the sum of many
// blocks stays near 1.
constexpr float kBranchScale = 0.4f;

Tensor Unit(GraphBuilder& b, const Tensor& x, int channels, int window, int stride = 1) {
  return b.Relu(b.BatchNorm(b.Conv(x, channels, window, {.stride = stride})));
}

Tensor Shortcut(GraphBuilder& b, const Tensor& x, int channels, int stride) {
  if (stride == 1 && x.dims[1] == channels) return x;
  return b.BatchNorm(b.Conv(x, channels, 1, {.stride = stride}));
}

// The shortcut is already positive, except the first one of a stage, so that the Relu only halves the branch.
Tensor Join(GraphBuilder& b, const Tensor& branch, const Tensor& shortcut) {
  Tensor x = b.Relu(b.Add(branch, shortcut));
  x.mean_square = shortcut.mean_square + branch.mean_square / 2;
  return x;
}

Tensor Basic(GraphBuilder& b, const Tensor& x, int channels, int stride) {
  const Tensor y = b.BatchNorm(b.Conv(Unit(b, x, channels, 3, stride), channels, 3), kBranchScale);
  return Join(b, y, Shortcut(b, x, channels, stride));
}

// The stride is in the 3x3 convolution, as in the frameworks.
Tensor Bottleneck(GraphBuilder& b, const Tensor& x, int channels, int stride) {
  const Tensor inner = Unit(b, Unit(b, x, channels, 1), channels, 3, stride);
  const Tensor y = b.BatchNorm(b.Conv(inner, 4 * channels, 1), kBranchScale);
  return Join(b, y, Shortcut(b, x, 4 * channels, stride));
}

// He et al. 2015.
void ResNet(GraphBuilder& b, Tensor (*block)(GraphBuilder&, const Tensor&, int, int),
            std::initializer_list<int> depths) {
  Tensor x = b.MaxPool(Unit(b, b.Image(3, 224, 224), 64, 7, 2), 3, {.pad = 1});
  int channels = 64;
  for (const int depth : depths) {
    for (int i = 0; i < depth; ++i) x = block(b, x, channels, i == 0 && channels > 64 ? 2 : 1);
    channels *= 2;
  }
  b.Output(b.Dense(b.Flatten(b.GlobalAveragePool(x)), 1000), "logits");
}

// DenseNet's layer normalises before it convolves, and each layer reads all features before it.
Tensor DenseStep(GraphBuilder& b, const Tensor& x, int channels, int window) {
  return b.Conv(b.Relu(b.BatchNorm(x)), channels, window);
}

Tensor DenseBlock(GraphBuilder& b, const Tensor& x, int layers) {
  constexpr int kGrowth = 32;
  std::vector<Tensor> features{x};
  for (int i = 0; i < layers; ++i) {
    const Tensor all = i == 0 ? x : b.Concat(features, 1);
    features.push_back(DenseStep(b, DenseStep(b, all, 4 * kGrowth, 1), kGrowth, 3));
  }
  return b.Concat(features, 1);
}

Tensor Leaky(GraphBuilder& b, const Tensor& x, int channels, int window) {
  return b.LeakyRelu(b.BatchNorm(b.Conv(x, channels, window)), 0.1f);
}

// Darknet-19's stage: 3x3 convolutions to `channels`, with 1x1 convolutions to half of that between them.
Tensor DarknetStage(GraphBuilder& b, Tensor x, int channels, int wide) {
  x = Leaky(b, x, channels, 3);
  for (int i = 1; i < wide; ++i) x = Leaky(b, Leaky(b, x, channels / 2, 1), channels, 3);
  return x;
}

}  // namespace

void ResNet18(GraphBuilder& b) { ResNet(b, Basic, {2, 2, 2, 2}); }
void ResNet50(GraphBuilder& b) { ResNet(b, Bottleneck, {3, 4, 6, 3}); }

// He et al. 2015 for 32x32: nine blocks in each of three stages, with projections.
void ResNet56(GraphBuilder& b) {
  Tensor x = Unit(b, b.Image(3, 32, 32), 16, 3);
  for (const int channels : {16, 32, 64})
    for (int i = 0; i < 9; ++i) x = Basic(b, x, channels, x.dims[1] == channels ? 1 : 2);
  b.Output(b.Dense(b.Flatten(b.GlobalAveragePool(x)), 10), "logits");
}

// Huang et al. 2016.
void DenseNet121(GraphBuilder& b) {
  Tensor x = b.MaxPool(Unit(b, b.Image(3, 224, 224), 64, 7, 2), 3, {.pad = 1});
  for (const int layers : {6, 12, 24, 16}) {
    x = DenseBlock(b, x, layers);
    if (layers != 16) x = b.AveragePool(DenseStep(b, x, int(x.dims[1]) / 2, 1), 2);
  }
  b.Output(b.Dense(b.Flatten(b.GlobalAveragePool(b.Relu(b.BatchNorm(x)))), 1000), "logits");
}

// Redmon, Farhadi 2016: Darknet-19, the pass-through from 26x26, five anchors of 80 classes, without box
// decoding.
void YoloV2(GraphBuilder& b) {
  Tensor x = b.MaxPool(Leaky(b, b.Image(3, 416, 416), 32, 3), 2);
  x = b.MaxPool(Leaky(b, x, 64, 3), 2);
  x = b.MaxPool(DarknetStage(b, x, 128, 2), 2);
  x = b.MaxPool(DarknetStage(b, x, 256, 2), 2);
  const Tensor fine = DarknetStage(b, x, 512, 3);
  x = DarknetStage(b, b.MaxPool(fine, 2), 1024, 3);
  x = Leaky(b, Leaky(b, x, 1024, 3), 1024, 3);
  const Tensor parts[] = {b.SpaceToDepth(Leaky(b, fine, 64, 1), 2), x};
  x = Leaky(b, b.Concat(parts, 1), 1024, 3);
  b.Output(b.Conv(x, 425, 1, {.bias = true}), "boxes");
}

// Tiny YOLOv2 for 20 classes (Darknet's yolov2-tiny-voc.cfg): nine convolutions and six pools, a chain. The
// last pool has stride 1 and keeps the size; its window is 3 here instead of 2, whose padding is on one side
// alone.
void TinyYoloV2(GraphBuilder& b) {
  Tensor x = b.Image(3, 416, 416);
  for (const int channels : {16, 32, 64, 128, 256}) x = b.MaxPool(Leaky(b, x, channels, 3), 2);
  x = b.MaxPool(Leaky(b, x, 512, 3), 3, {.stride = 1, .pad = 1});
  x = Leaky(b, Leaky(b, x, 1024, 3), 1024, 3);
  b.Output(b.Conv(x, 125, 1, {.bias = true}), "boxes");
}

}  // namespace mete::zoo
