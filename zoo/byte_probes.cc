#include "zoo/byte_probes.h"

#include "zoo/dice.h"

namespace mete::zoo {
namespace {

class ByteProbe {
 public:
  ByteProbe(GraphBuilder& b, uint64_t seed) : b_(b), dice_(seed) {}

  // Adds `layers` layers of each size from half of `side` down.
  void Build(int side, int layers, int most_channels) {
    most_channels_ = most_channels;
    Tensor x = b_.QConv(b_.Quantize(b_.Image(3, side, side)), dice_.Channels(8, 64), dice_.Of({3, 3, 5, 7}),
                        {.stride = 2});
    while (x.dims[2] >= 7) {
      for (int i = 0; i < layers; ++i) x = Layer(x);
      x = b_.Quantize(b_.LocalResponseNorm(b_.Dequantize(x), 5));  // an operator in floats
      x = Smaller(x);
    }
    x = b_.Quantize(b_.GlobalAveragePool(b_.Dequantize(x)));
    b_.Output(b_.Dense(b_.Flatten(b_.Dequantize(x)), 1000), "out");
  }

 private:
  Tensor Layer(const Tensor& x) {
    switch (dice_.Of({0, 0, 0, 1, 1, 2, 2, 3, 4, 5})) {
      case 0: return Conv(x, 1, 1);
      case 1: return Conv(x, dice_.Of({Window(3), Window(3), Window(5), Window(1, 7)}), 1);
      case 2: return ByChannel(x, 1);
      case 3: return b_.Quantize(b_.Add(b_.Dequantize(x), b_.Dequantize(ByChannel(x, 1))));
      case 4: return b_.Quantize(b_.Swish(b_.Dequantize(x)));
      default: return Gated(x);
    }
  }

  // Halves the size.
  Tensor Smaller(const Tensor& x) {
    switch (dice_.Of({0, 0, 1, 1, 2, 3})) {
      case 0: return ByChannel(x, 2);
      case 1: return Conv(x, 3, 2);
      case 2: return b_.Quantize(b_.MaxPool(b_.Dequantize(x), 3));
      default: return b_.Quantize(b_.AveragePool(b_.Dequantize(x), 3));
    }
  }

  Tensor Gated(const Tensor& x) {
    const Tensor gate = b_.QConv(b_.Quantize(b_.GlobalAveragePool(b_.Dequantize(x))), int(x.dims[1]), 1, {});
    return b_.Quantize(b_.Mul(b_.Dequantize(x), b_.Dequantize(b_.Quantize(b_.Sigmoid(b_.Dequantize(gate))))));
  }

  Tensor ByChannel(const Tensor& x, int stride) {
    const int channels = int(x.dims[1]);
    return b_.QConv(x, channels, dice_.Of({3, 3, 5}), {.stride = stride, .groups = channels});
  }

  Tensor Conv(const Tensor& x, Window window, int stride) {
    const double each = double(x.dims[1] * x.dims[2] * x.dims[3]) * window.h * window.w;
    const auto most = std::clamp<int64_t>(int64_t(kMostWideWork / each), 16, most_channels_);
    const int64_t widest = std::max<int64_t>(64, 14336 / x.dims[2]);
    return b_.QConv(x, dice_.Channels(16, std::min<int64_t>(most, widest)), window, {.stride = stride});
  }

  GraphBuilder& b_;
  Dice dice_;
  int64_t most_channels_ = 0;
};

// The value in bytes of an operator on floats.
Tensor MaxPoolOf(GraphBuilder& b, const Tensor& x, int window, const PoolOptions& options) {
  return b.Quantize(b.MaxPool(b.Dequantize(x), window, options));
}
Tensor AveragePoolOf(GraphBuilder& b, const Tensor& x, int window, const PoolOptions& options) {
  return b.Quantize(b.AveragePool(b.Dequantize(x), window, options));
}

// x: 1 x length x heads * width. Returns the attention of x to itself, without weights.
Tensor AttentionOf(GraphBuilder& b, const Tensor& x, int64_t heads) {
  const int64_t length = x.dims[1], features = x.dims[2];
  const Tensor split = b.Reshape(x, {1, length, heads, features / heads});
  const Tensor rows = b.Transpose(split, {0, 2, 1, 3}), columns = b.Transpose(split, {0, 2, 3, 1});
  const Tensor scores = b.Quantize(b.MatMul(b.Dequantize(rows), b.Dequantize(columns)));
  const Tensor shares = b.Quantize(b.Softmax(b.Dequantize(scores)));
  const Tensor sums = b.Quantize(b.MatMul(b.Dequantize(shares), b.Dequantize(rows)));
  return b.Reshape(b.Transpose(sums, {0, 2, 1, 3}), {1, length, features});
}

}  // namespace

void ByteLayers(GraphBuilder& b, uint64_t seed, int side, int layers, int most_channels) {
  ByteProbe(b, seed).Build(side, layers, most_channels);
}

void BytePools(GraphBuilder& b) {
  Dice dice(36);
  Tensor x = b.QConv(b.Quantize(b.Image(3, 224, 224)), 64, 3, {.stride = 2});
  while (x.dims[2] >= 7) {
    for (const int window : {2, 3, 5}) {
      x = b.QConv(x, dice.Channels(24, std::min<int64_t>(7168 / x.dims[2], 832)), 1, {});
      x = MaxPoolOf(b, x, window, {.stride = 1, .pad = window / 2});
    }
    x = AveragePoolOf(b, x, 3, {.stride = 1, .pad = 1});
    x = MaxPoolOf(b, x, dice.Of({2, 3}), {});
  }
  b.Output(b.Dequantize(x), "out");
}

void ByteAttention(GraphBuilder& b) {
  Dice dice(35);
  constexpr int64_t kLongest = 256, kWidest = 768;
  const Tensor image = b.Reshape(b.Image(1, kLongest, kWidest), {1, kLongest, kWidest});
  for (const int64_t length : {33, 49, 64, 96, 128, 197, 256}) {
    const int64_t heads = dice.Of({3, 4, 6, 12}), width = dice.Of({16, 32, 32, 64, 64});
    Tensor x = b.Slice(b.Slice(image, 1, 0, length), 2, 0, heads * width);
    x = b.Quantize(x);
    for (int i = 0; i < 2; ++i) x = AttentionOf(b, x, heads);
    b.Output(b.Dequantize(x), "out" + std::to_string(length));
  }
}

}  // namespace mete::zoo
