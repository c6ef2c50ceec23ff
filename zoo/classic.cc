// Networks from before batch normalisation and shortcuts.
#include "zoo/architectures.h"

namespace mete::zoo {
namespace {

Tensor ConvRelu(GraphBuilder& b, const Tensor& x, int channels, int window, int stride = 1, int pad = kSame,
                int groups = 1) {
  return b.Relu(b.Conv(x, channels, window, {.stride = stride, .pad = pad, .groups = groups, .bias = true}));
}

void Classifier(GraphBuilder& b, const Tensor& x) {
  Tensor y = b.Dropout(b.Relu(b.Dense(b.Flatten(x), 4096)));
  y = b.Dropout(b.Relu(b.Dense(y, 4096)));
  b.Output(b.Dense(y, 1000), "logits");
}

// Simonyan, Zisserman 2014: `deep` convolutions in each of the last three stages.
void Vgg(GraphBuilder& b, int deep) {
  const int channels[] = {64, 128, 256, 512, 512};
  Tensor x = b.Image(3, 224, 224);
  for (int stage = 0; stage < 5; ++stage) {
    for (int i = 0; i < (stage < 2 ? 2 : deep); ++i) x = ConvRelu(b, x, channels[stage], 3);
    x = b.MaxPool(x, 2);
  }
  Classifier(b, x);
}

// Squeezes to few channels, then expands with 1x1 and 3x3 convolutions in parallel.
Tensor Fire(GraphBuilder& b, const Tensor& x, int squeeze, int expand) {
  const Tensor s = ConvRelu(b, x, squeeze, 1);
  const Tensor parts[] = {ConvRelu(b, s, expand, 1), ConvRelu(b, s, expand, 3)};
  return b.Concat(parts, 1);
}

void SqueezeNetHead(GraphBuilder& b, const Tensor& x) {
  b.Output(b.Flatten(b.GlobalAveragePool(ConvRelu(b, b.Dropout(x), 1000, 1))), "logits");
}

}  // namespace

// Krizhevsky, Sutskever, Hinton 2012, in the form with two groups.
void AlexNet(GraphBuilder& b) {
  Tensor x = b.LocalResponseNorm(ConvRelu(b, b.Image(3, 227, 227), 96, 11, 4, 0), 5);
  x = b.LocalResponseNorm(ConvRelu(b, b.MaxPool(x, 3), 256, 5, 1, 2, 2), 5);
  x = ConvRelu(b, b.MaxPool(x, 3), 384, 3);
  x = ConvRelu(b, x, 384, 3, 1, 1, 2);
  x = ConvRelu(b, x, 256, 3, 1, 1, 2);
  Classifier(b, b.MaxPool(x, 3));
}

// Lin, Chen, Yan 2013, the ImageNet form: each convolution is followed by two 1x1 ones.
void Nin(GraphBuilder& b) {
  Tensor x = ConvRelu(b, b.Image(3, 224, 224), 96, 11, 4, 0);
  x = b.MaxPool(ConvRelu(b, ConvRelu(b, x, 96, 1), 96, 1), 3, {.ceil = true});
  x = ConvRelu(b, x, 256, 5);
  x = b.MaxPool(ConvRelu(b, ConvRelu(b, x, 256, 1), 256, 1), 3, {.ceil = true});
  x = ConvRelu(b, x, 384, 3);
  x = b.Dropout(b.MaxPool(ConvRelu(b, ConvRelu(b, x, 384, 1), 384, 1), 3, {.ceil = true}));
  x = ConvRelu(b, ConvRelu(b, x, 1024, 3), 1024, 1);
  b.Output(b.Flatten(b.GlobalAveragePool(ConvRelu(b, x, 1000, 1))), "logits");
}

// Iandola et al. 2016.
void SqueezeNet10(GraphBuilder& b) {
  Tensor x = b.MaxPool(ConvRelu(b, b.Image(3, 224, 224), 96, 7, 2, 0), 3, {.ceil = true});
  x = Fire(b, Fire(b, Fire(b, x, 16, 64), 16, 64), 32, 128);
  x = b.MaxPool(x, 3, {.ceil = true});
  x = Fire(b, Fire(b, Fire(b, Fire(b, x, 32, 128), 48, 192), 48, 192), 64, 256);
  x = b.MaxPool(x, 3, {.ceil = true});
  SqueezeNetHead(b, Fire(b, x, 64, 256));
}

void SqueezeNet11(GraphBuilder& b) {
  Tensor x = b.MaxPool(ConvRelu(b, b.Image(3, 224, 224), 64, 3, 2, 0), 3, {.ceil = true});
  x = b.MaxPool(Fire(b, Fire(b, x, 16, 64), 16, 64), 3, {.ceil = true});
  x = b.MaxPool(Fire(b, Fire(b, x, 32, 128), 32, 128), 3, {.ceil = true});
  x = Fire(b, Fire(b, Fire(b, Fire(b, x, 48, 192), 48, 192), 64, 256), 64, 256);
  SqueezeNetHead(b, x);
}

void Vgg16(GraphBuilder& b) { Vgg(b, 3); }
void Vgg19(GraphBuilder& b) { Vgg(b, 4); }

}  // namespace mete::zoo
