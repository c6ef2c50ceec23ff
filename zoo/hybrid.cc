// Networks that join convolutions and parts of transformers.
#include <cmath>

#include "zoo/architectures.h"
#include "zoo/blocks.h"

namespace mete::zoo {
namespace {

// LayerNormalization over the channels of an image, as PyTorch writes it.
Tensor ChannelNorm(GraphBuilder& b, const Tensor& x) {
  return b.Transpose(b.LayerNorm(b.Transpose(x, {0, 2, 3, 1})), {0, 3, 1, 2});
}

Tensor ConvNextBlock(GraphBuilder& b, const Tensor& x) {
  const int channels = int(x.dims[1]);
  Tensor y = b.Transpose(b.Conv(x, channels, 7, {.groups = channels, .bias = true}), {0, 2, 3, 1});
  y = b.Linear(b.Gelu(b.Linear(b.LayerNorm(y), 4 * channels)), channels);
  return b.Add(b.Mul(b.Parameter({channels, 1, 1}, 0.3), b.Transpose(y, {0, 3, 1, 2})), x);
}

// A transformer's attention with one product for queries, keys and values, and feed-forward layers.
Tensor FusedAttention(GraphBuilder& b, const Tensor& x, int heads) {
  const int64_t batch = x.dims[0], tokens = x.dims[1], features = x.dims[2], size = features / heads;
  const Tensor all = b.Transpose(b.Reshape(b.Linear(x, int(3 * features)), {batch, tokens, 3, heads, size}),
                                 {2, 0, 3, 1, 4});
  const Tensor query = b.Row(all, 0, 0), key = b.Row(all, 0, 1), value = b.Row(all, 0, 2);
  const Tensor scores =
      b.MatMul(b.Scaled(query, float(1 / std::sqrt(double(size)))), b.Transpose(key, {0, 1, 3, 2}));
  const Tensor mixed = b.Transpose(b.MatMul(b.Softmax(scores), value), {0, 2, 1, 3});
  return b.Linear(b.Reshape(mixed, x.dims), int(features));
}

Tensor SwishLayers(GraphBuilder& b, const Tensor& x, int hidden) {
  return b.Linear(b.Swish(b.Linear(x, hidden)), int(x.dims.back()));
}

// MobileViT's block: transformers see the pixels at the same place of all 2x2 squares as one sequence.
Tensor MobileVitBlock(GraphBuilder& b, const Tensor& x, int features, int layers) {
  constexpr int kHeads = 4, kPatch = 2, kArea = kPatch * kPatch;
  const int channels = int(x.dims[1]);
  const int64_t rows = x.dims[2] / kPatch, columns = x.dims[3] / kPatch, patches = rows * columns;
  Tensor y = b.Conv(Unit(b, x, channels, 3, 1, Act::kSwish), features, 1);
  y = b.Transpose(b.Reshape(y, {features * rows, kPatch, columns, kPatch}), {0, 2, 1, 3});
  y = b.Reshape(b.Transpose(b.Reshape(y, {1, features, patches, kArea}), {0, 3, 2, 1}),
                {kArea, patches, features});
  for (int i = 0; i < layers; ++i) {
    y = b.Add(y, FusedAttention(b, b.LayerNorm(y), kHeads));
    y = b.Add(y, SwishLayers(b, b.LayerNorm(y), 2 * features));
  }
  y = b.Transpose(b.Reshape(b.LayerNorm(y), {1, kArea, patches, features}), {0, 3, 2, 1});
  y = b.Transpose(b.Reshape(y, {features * rows, columns, kPatch, kPatch}), {0, 2, 1, 3});
  y = Unit(b, b.Reshape(y, {1, features, x.dims[2], x.dims[3]}), channels, 1, 1, Act::kSwish);
  const Tensor parts[] = {x, y};
  return Unit(b, b.Concat(parts, 1), channels, 3, 1, Act::kSwish);
}

// Conformer's convolution module: a gate, a depthwise convolution along time, and 1x1 convolutions.
Tensor ConvModule(GraphBuilder& b, const Tensor& x, int window) {
  const int features = int(x.dims[2]);
  const Tensor wide = b.Conv(b.Transpose(b.LayerNorm(x), {0, 2, 1}), 2 * features, 1, {.bias = true});
  const std::vector<Tensor> halves = b.Split(wide, 2, 1);
  Tensor y = b.Mul(halves[0], b.Sigmoid(halves[1]));
  y = b.Swish(b.BatchNorm(b.Conv(y, features, window, {.groups = features, .bias = true})));
  return b.Transpose(b.Conv(y, features, 1, {.bias = true}), {0, 2, 1});
}

Tensor ConformerBlock(GraphBuilder& b, Tensor x, int heads) {
  const int hidden = 4 * int(x.dims[2]);
  x = b.Add(x, b.Scaled(SwishLayers(b, b.LayerNorm(x), hidden), 0.5f));
  x = b.Add(x, FusedAttention(b, b.LayerNorm(x), heads));
  x = b.Add(x, ConvModule(b, x, 31));
  x = b.Add(x, b.Scaled(SwishLayers(b, b.LayerNorm(x), hidden), 0.5f));
  return b.LayerNorm(x);
}

}  // namespace

// Liu et al. 2022, size T.
void ConvNextTiny(GraphBuilder& b) {
  Tensor x = ChannelNorm(b, b.Conv(b.Image(3, 224, 224), 96, 4, {.stride = 4, .pad = 0, .bias = true}));
  for (const auto& [channels, count] : {std::pair{96, 3}, {192, 3}, {384, 9}, {768, 3}}) {
    if (channels > 96) x = b.Conv(ChannelNorm(b, x), channels, 2, {.stride = 2, .pad = 0, .bias = true});
    for (int i = 0; i < count; ++i) x = ConvNextBlock(b, x);
  }
  b.Output(b.Dense(b.Flatten(ChannelNorm(b, b.GlobalAveragePool(x))), 1000), "logits");
}

// Mehta, Rastegari 2021, size S.
void MobileVitSmall(GraphBuilder& b) {
  Tensor x = Unit(b, b.Image(3, 256, 256), 16, 3, 2, Act::kSwish);
  const auto inverted = [&](int channels, int stride) {
    x = InvertedResidual(b, x, {4 * int(x.dims[1]), channels, 3, stride, Act::kSwish});
  };
  inverted(32, 1);
  for (const int stride : {2, 1, 1}) inverted(64, stride);
  struct Stage {
    int channels, features, layers;
  };
  for (const Stage& s : {Stage{96, 144, 2}, {128, 192, 4}, {160, 240, 3}}) {
    inverted(s.channels, 2);
    x = MobileVitBlock(b, x, s.features, s.layers);
  }
  x = Unit(b, x, 640, 1, 1, Act::kSwish);
  b.Output(b.Dense(b.Flatten(b.GlobalAveragePool(x)), 1000), "logits");
}

// Gulati et al. 2020, size S: the first four of its 16 blocks, with attention without positions, over four
// seconds of sound (400 frames of 80 mel bands), and the scores of 128 pieces of words for each 40 ms.
void Conformer4(GraphBuilder& b) {
  constexpr int kFeatures = 144;
  Tensor x = b.Floats("features", {1, 1, 400, 80});
  for (int i = 0; i < 2; ++i) x = b.Relu(b.Conv(x, kFeatures, 3, {.stride = 2, .bias = true}));
  x = b.Reshape(b.Transpose(x, {0, 2, 1, 3}), {1, x.dims[2], kFeatures * x.dims[3]});
  x = b.Linear(x, kFeatures);
  for (int i = 0; i < 4; ++i) x = ConformerBlock(b, x, 4);
  b.Output(b.LogSoftmax(b.Linear(x, 128)), "scores");
}

}  // namespace mete::zoo
