// Networks of parallel branches.
#include "zoo/architectures.h"

namespace mete::zoo {
namespace {

Tensor ConvRelu(GraphBuilder& b, const Tensor& x, int channels, int window, int stride = 1) {
  return b.Relu(b.Conv(x, channels, window, {.stride = stride, .bias = true}));
}

// GoogLeNet's module. The members have the names of the paper's table 1.
struct Module {
  int one, reduce3, three, reduce5, five, pool;
};

Tensor Inception(GraphBuilder& b, const Tensor& x, const Module& m) {
  const Tensor parts[] = {
      ConvRelu(b, x, m.one, 1),
      ConvRelu(b, ConvRelu(b, x, m.reduce3, 1), m.three, 3),
      ConvRelu(b, ConvRelu(b, x, m.reduce5, 1), m.five, 5),
      ConvRelu(b, b.MaxPool(x, 3, {.stride = 1, .pad = 1}), m.pool, 1),
  };
  return b.Concat(parts, 1);
}

// Inception v3's unit: convolution, batch normalisation, Relu.
Tensor Unit(GraphBuilder& b, const Tensor& x, int channels, Window window, int stride = 1, int pad = kSame) {
  return b.Relu(b.BatchNorm(b.Conv(x, channels, window, {.stride = stride, .pad = pad})));
}

Tensor PoolUnit(GraphBuilder& b, const Tensor& x, int channels) {
  return Unit(b, b.AveragePool(x, 3, {.stride = 1, .pad = 1}), channels, 1);
}

// BN-Inception's module, with two 3x3 convolutions in place of one of 5x5. Without `one` it halves height and
// width, and its pool has no convolution behind it.
struct WideModule {
  int one, reduce3, three, reduce_double, twice, pool;
};

Tensor WideInception(GraphBuilder& b, const Tensor& x, const WideModule& m) {
  const int stride = m.one > 0 ? 1 : 2;
  std::vector<Tensor> parts;
  if (m.one > 0) parts.push_back(Unit(b, x, m.one, 1));
  parts.push_back(Unit(b, Unit(b, x, m.reduce3, 1), m.three, 3, stride));
  parts.push_back(Unit(b, Unit(b, Unit(b, x, m.reduce_double, 1), m.twice, 3), m.twice, 3, stride));
  parts.push_back(m.one > 0 ? PoolUnit(b, x, m.pool) : b.MaxPool(x, 3, {.ceil = true}));
  return b.Concat(parts, 1);
}

// Modules A to E, at 35x35, 35 to 17, 17x17, 17 to 8, and 8x8.
Tensor ModuleA(GraphBuilder& b, const Tensor& x, int pool) {
  const Tensor parts[] = {Unit(b, x, 64, 1), Unit(b, Unit(b, x, 48, 1), 64, 5),
                          Unit(b, Unit(b, Unit(b, x, 64, 1), 96, 3), 96, 3), PoolUnit(b, x, pool)};
  return b.Concat(parts, 1);
}

Tensor ModuleB(GraphBuilder& b, const Tensor& x) {
  const Tensor parts[] = {Unit(b, x, 384, 3, 2, 0), Unit(b, Unit(b, Unit(b, x, 64, 1), 96, 3), 96, 3, 2, 0),
                          b.MaxPool(x, 3)};
  return b.Concat(parts, 1);
}

Tensor ModuleC(GraphBuilder& b, const Tensor& x, int n) {
  const Window row(1, 7), column(7, 1);
  const Tensor once = Unit(b, Unit(b, Unit(b, x, n, 1), n, row), 192, column);
  const Tensor half = Unit(b, Unit(b, Unit(b, x, n, 1), n, column), n, row);
  const Tensor parts[] = {Unit(b, x, 192, 1), once, Unit(b, Unit(b, half, n, column), 192, row),
                          PoolUnit(b, x, 192)};
  return b.Concat(parts, 1);
}

Tensor ModuleD(GraphBuilder& b, const Tensor& x) {
  const Tensor seven = Unit(b, Unit(b, Unit(b, x, 192, 1), 192, Window(1, 7)), 192, Window(7, 1));
  const Tensor parts[] = {Unit(b, Unit(b, x, 192, 1), 320, 3, 2, 0), Unit(b, seven, 192, 3, 2, 0),
                          b.MaxPool(x, 3)};
  return b.Concat(parts, 1);
}

Tensor ModuleE(GraphBuilder& b, const Tensor& x) {
  const auto fork = [&](const Tensor& t) {
    const Tensor parts[] = {Unit(b, t, 384, Window(1, 3)), Unit(b, t, 384, Window(3, 1))};
    return b.Concat(parts, 1);
  };
  const Tensor parts[] = {Unit(b, x, 320, 1), fork(Unit(b, x, 384, 1)),
                          fork(Unit(b, Unit(b, x, 448, 1), 384, 3)), PoolUnit(b, x, 192)};
  return b.Concat(parts, 1);
}

void Head(GraphBuilder& b, const Tensor& x) {
  b.Output(b.Dense(b.Dropout(b.Flatten(b.GlobalAveragePool(x))), 1000), "logits");
}

}  // namespace

// Szegedy et al. 2014, without the auxiliary classifiers that only training uses.
void GoogLeNet(GraphBuilder& b) {
  Tensor x =
      b.LocalResponseNorm(b.MaxPool(ConvRelu(b, b.Image(3, 224, 224), 64, 7, 2), 3, {.ceil = true}), 5);
  x = b.LocalResponseNorm(ConvRelu(b, ConvRelu(b, x, 64, 1), 192, 3), 5);
  x = Inception(b, b.MaxPool(x, 3, {.ceil = true}), {64, 96, 128, 16, 32, 32});
  x = b.MaxPool(Inception(b, x, {128, 128, 192, 32, 96, 64}), 3, {.ceil = true});
  x = Inception(b, x, {192, 96, 208, 16, 48, 64});
  x = Inception(b, x, {160, 112, 224, 24, 64, 64});
  x = Inception(b, x, {128, 128, 256, 24, 64, 64});
  x = Inception(b, x, {112, 144, 288, 32, 64, 64});
  x = b.MaxPool(Inception(b, x, {256, 160, 320, 32, 128, 128}), 3, {.ceil = true});
  x = Inception(b, x, {256, 160, 320, 32, 128, 128});
  Head(b, Inception(b, x, {384, 192, 384, 48, 128, 128}));
}

// Ioffe, Szegedy 2015, in the sizes of the Caffe model that the frameworks converted.
void InceptionV2(GraphBuilder& b) {
  Tensor x = b.MaxPool(Unit(b, b.Image(3, 224, 224), 64, 7, 2), 3, {.ceil = true});
  x = b.MaxPool(Unit(b, Unit(b, x, 64, 1), 192, 3), 3, {.ceil = true});
  const WideModule modules[] = {
      {64, 64, 64, 64, 96, 32},      {64, 64, 96, 64, 96, 64},     {0, 128, 160, 64, 96, 0},
      {224, 64, 96, 96, 128, 128},   {192, 96, 128, 96, 128, 128}, {160, 128, 160, 128, 160, 128},
      {96, 128, 192, 160, 192, 128}, {0, 128, 192, 192, 256, 0},   {352, 192, 320, 160, 224, 128}};
  for (const WideModule& m : modules) x = WideInception(b, x, m);
  // The last module has the only largest-of-3x3 pool before a convolution.
  const Tensor parts[] = {Unit(b, x, 352, 1), Unit(b, Unit(b, x, 192, 1), 320, 3),
                          Unit(b, Unit(b, Unit(b, x, 192, 1), 224, 3), 224, 3),
                          Unit(b, b.MaxPool(x, 3, {.stride = 1, .pad = 1}), 128, 1)};
  Head(b, b.Concat(parts, 1));
}

// Szegedy et al. 2015, without the auxiliary classifier.
void InceptionV3(GraphBuilder& b) {
  Tensor x = Unit(b, b.Image(3, 299, 299), 32, 3, 2, 0);
  x = Unit(b, Unit(b, x, 32, 3, 1, 0), 64, 3);
  x = Unit(b, Unit(b, b.MaxPool(x, 3), 80, 1), 192, 3, 1, 0);
  x = ModuleA(b, ModuleA(b, ModuleA(b, b.MaxPool(x, 3), 32), 64), 64);
  x = ModuleB(b, x);
  for (const int n : {128, 160, 160, 192}) x = ModuleC(b, x, n);
  Head(b, ModuleE(b, ModuleE(b, ModuleD(b, x))));
}

}  // namespace mete::zoo
