// Networks for measuring only: layers of all sizes that occur in practice, drawn at random with fixed seeds.
// A profile of a machine (src/profile) runs them and gets from their layers the costs of kernels between
// other layers.
#include <algorithm>
#include <array>
#include <cmath>

#include "zoo/architectures.h"
#include "zoo/byte_probes.h"
#include "zoo/dice.h"

namespace mete::zoo {
namespace {

// The most multiply-adds of a layer: 4 ms on a core with 80 GFLOP/s. This value is a guess: beyond it time is
// proportional to work, and short networks run more often.
constexpr double kMostWork = 160e6;

Tensor Activated(GraphBuilder& b, const Tensor& x, int kind) {
  switch (kind) {
    case 0: return b.Relu(x);
    case 1: return b.Relu6(x);
    case 2: return b.Swish(x);
    case 3: return b.HardSwish(x);
    default: return x;
  }
}

// A squeeze-and-excite with 8 to `most` channels in its narrow layer.
Tensor Gated(GraphBuilder& b, Dice& dice, const Tensor& x, int64_t most) {
  const Tensor down = b.Conv(b.GlobalAveragePool(x), dice.Channels(8, most), 1, {.bias = true});
  const bool hard = dice.Chance(0.5f);
  const Tensor up = b.Conv(hard ? b.Relu(down) : b.Swish(down), int(x.dims[1]), 1, {.bias = true});
  return b.Mul(x, hard ? b.HardSigmoid(up) : b.Sigmoid(up));
}

class ImageProbe {
 public:
  ImageProbe(GraphBuilder& b, uint64_t seed) : b_(b), dice_(seed) {}

  // Adds `layers` layers of each size from half of `side` down, half as many of the large sizes.
  void Build(int side, int layers, int most_channels) {
    most_channels_ = most_channels;
    Tensor x = Activate(b_.Conv(b_.Image(3, side, side), dice_.Channels(16, 64), dice_.Of({3, 3, 5, 7}),
                                {.stride = 2, .bias = true}));
    while (x.dims[2] >= 7) {
      for (int i = 0; i < (x.dims[2] > 60 ? layers / 2 : layers); ++i) x = Layer(x);
      x = Smaller(x);
    }
    x = b_.Dense(b_.Flatten(b_.GlobalAveragePool(x)), dice_.Channels(256, 4096));
    x = b_.Dense(b_.Relu(x), dice_.Channels(64, 2048));
    b_.Output(b_.Dense(b_.Relu(x), 1000), "out");
  }

 private:
  Tensor Layer(const Tensor& x) {
    const int channels = int(x.dims[1]);
    switch (dice_.Of({0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6})) {
      case 0: return Conv(x, 1);
      case 1: return Conv(x, 3);
      case 2: return Activate(b_.Conv(x, channels, dice_.Of({3, 3, 5}), {.groups = channels, .bias = true}));
      case 3: return Conv(x, dice_.Of({Window(5), Window(1, 7), Window(7, 1), Window(1, 3), Window(3, 1)}));
      case 4: return Gated(b_, dice_, x, x.dims[1]);
      case 5: return Residual(x);
      default: return Branches(x);
    }
  }

  // Chooses the output channels such that the work is bounded.
  Tensor Conv(const Tensor& x, Window window) {
    const double each = double(x.dims[1] * x.dims[2] * x.dims[3]) * window.h * window.w;
    const auto most = std::clamp<int64_t>(int64_t(kMostWork / each), 16, most_channels_);
    return Activate(
        b_.Conv(x, dice_.Channels(16, std::min<int64_t>(most, Widest(x))), window, {.bias = true}));
  }

  // In networks, layers are wide when images are small.
  static int64_t Widest(const Tensor& x) { return std::max<int64_t>(64, 14336 / x.dims[2]); }

  Tensor Activate(const Tensor& x) { return Activated(b_, x, dice_.Of({0, 0, 0, 0, 1, 2, 3, 4, 4})); }

  Tensor Residual(const Tensor& x) {
    const Tensor y = Conv(x, dice_.Of({1, 1, 3}));
    const Tensor z = b_.Add(x, b_.Conv(y, int(x.dims[1]), dice_.Of({1, 1, 3}), {.bias = true}));
    return dice_.Chance(0.5f) ? b_.Relu(z) : z;
  }

  Tensor Branches(const Tensor& x) {
    const Tensor narrow = Conv(x, 1);
    // The choice uses a number that is already drawn, because another draw would change all layers after it.
    const bool by_average = narrow.dims[1] / 16 % 2 != 0;
    const Tensor pooled = by_average ? b_.AveragePool(narrow, 3, {.stride = 1, .pad = 1})
                                     : b_.MaxPool(narrow, 3, {.stride = 1, .pad = 1});
    const Tensor parts[] = {Conv(narrow, 1), Conv(narrow, 3), pooled};
    return Conv(b_.Concat(parts, 1), 1);
  }

  Tensor Smaller(const Tensor& x) {
    const int channels = int(x.dims[1]);
    switch (dice_.Of({0, 1, 2, 3})) {
      case 0: return b_.MaxPool(x, 3, {});
      case 1: return b_.AveragePool(x, 2, {});
      case 2:
        return Activate(
            b_.Conv(x, channels, dice_.Of({3, 5}), {.stride = 2, .groups = channels, .bias = true}));
      default: return Activate(b_.Conv(x, std::min(channels, 256), 3, {.stride = 2, .bias = true}));
    }
  }

  GraphBuilder& b_;
  Dice dice_;
  int64_t most_channels_ = 0;
};

// Convolutions of 3x3 and larger, with more and more channels on smaller and smaller images, as in networks
// before 2018.
class WideProbe {
 public:
  WideProbe(GraphBuilder& b, uint64_t seed) : b_(b), dice_(seed) {}

  void Build(int side, int channels, int most_channels) {
    Tensor x =
        b_.Relu(b_.Conv(b_.Image(3, side, side), channels, 3, {.stride = dice_.Of({1, 2}), .bias = true}));
    for (int wide = channels; x.dims[2] >= 7; wide = std::min(2 * wide, most_channels)) {
      for (int i = 0; i < (x.dims[2] > 60 ? 2 : 6); ++i)
        x = Conv(x, dice_.Chance(0.4f) ? wide : dice_.Channels(std::max(16, wide / 3), wide));
      x = dice_.Chance(0.5f) ? b_.MaxPool(x, 2, {}) : Conv(x, wide, 2);
    }
    x = b_.Dense(b_.Flatten(b_.MaxPool(x, 3, {})), 512);
    b_.Output(b_.Dense(b_.Relu(x), 1000), "out");
  }

 private:
  Tensor Conv(const Tensor& x, int most_channels, int stride = 1) {
    const int window = dice_.Of({3, 3, 3, 1, 1});
    const double each = double(x.dims[1] * x.dims[2] * x.dims[3]) * window * window / (stride * stride);
    const int channels =
        int(std::min<int64_t>(most_channels, std::max<int64_t>(16, int64_t(kMostWideWork / each) / 16 * 16)));
    Tensor y = b_.Conv(x, channels, window, {.stride = stride, .bias = true});
    if (stride == 1 && channels == x.dims[1] && dice_.Chance(0.5f)) y = b_.Add(x, y);
    return dice_.Chance(0.8f) ? b_.Relu(y) : y;
  }

  GraphBuilder& b_;
  Dice dice_;
};

// First layers, which read three channels. They have a network of their own, because each of the other
// networks has only one.
void Stems(GraphBuilder& b) {
  const Tensor image = b.Image(3, 224, 224);
  std::vector<Tensor> ends;
  Dice dice(9);
  for (const auto& [window, stride, channels] : {std::array{3, 2, 16},
                                                 {3, 2, 24},
                                                 {3, 2, 32},
                                                 {3, 2, 64},
                                                 {3, 1, 32},
                                                 {3, 1, 64},
                                                 {5, 2, 32},
                                                 {7, 2, 64},
                                                 {7, 2, 32},
                                                 {5, 1, 16},
                                                 {7, 4, 96},
                                                 {11, 4, 96},
                                                 {11, 4, 64},
                                                 {16, 16, 192},
                                                 {9, 2, 48},
                                                 {3, 2, 48},
                                                 {7, 2, 96},
                                                 {4, 4, 96},
                                                 {8, 8, 128}}) {
    const Tensor y =
        b.Conv(image, channels, window, {.stride = stride, .pad = dice.Of({0, kSame}), .bias = true});
    const Tensor z = dice.Of({0, 0, 1, 2}) == 0 ? b.Relu(y) : dice.Chance(0.5f) ? b.Swish(y) : b.HardSwish(y);
    ends.push_back(b.Dense(b.Flatten(b.GlobalAveragePool(z)), 16));
  }
  b.Output(b.Concat(ends, 1), "out");
}

// Depthwise convolutions, of which most networks have one size at a time.
void ByChannel(GraphBuilder& b) {
  Dice dice(10);
  Tensor x = b.Conv(b.Image(3, 226, 226), 32, 3, {.stride = 2, .bias = true});
  while (x.dims[2] >= 7) {
    for (int i = 0; i < 9; ++i) {
      const int channels = int(x.dims[1]);
      x = b.Conv(x, channels, dice.Of({3, 3, 5}),
                 {.groups = channels, .dilation = dice.Of({1, 1, 1, 1, 2}), .bias = true});
      x = dice.Chance(0.5f)   ? b.Relu6(x)
          : dice.Chance(0.5f) ? b.Swish(x)
          : dice.Chance(0.5f) ? b.HardSwish(x)
                              : x;
      const int64_t widest = std::max<int64_t>(48, 16384 / x.dims[2]);
      if (i % 3 == 1)
        x = b.Relu(b.Conv(x, dice.Channels(16, std::min<int64_t>(widest, 1280)), 1, {.bias = true}));
      const int wide = int(x.dims[1]);
      // A side branch with stride 2: without it there would be too few layers of stride 2.
      if (i % 3 == 2) {
        const Tensor half = b.Conv(x, wide, dice.Of({3, 5}), {.stride = 2, .groups = wide, .bias = true});
        x = b.Mul(x, b.Sigmoid(b.Conv(b.GlobalAveragePool(half), wide, 1, {.bias = true})));
      }
    }
    const int wide = int(x.dims[1]);
    x = b.Conv(x, wide, 3, {.stride = 2, .groups = wide, .bias = true});
  }
  b.Output(b.Dense(b.Flatten(b.GlobalAveragePool(x)), 1000), "out");
}

// Inverted residuals with narrow and wide layers in turns, as in networks for phones: many small nodes of
// many sizes.
class MobileProbe {
 public:
  MobileProbe(GraphBuilder& b, uint64_t seed) : b_(b), dice_(seed) {}

  // Adds `blocks` blocks of each size from half of `side` down.
  void Build(int side, int blocks) {
    Tensor x =
        Activate(b_.Conv(b_.Image(3, side, side), dice_.Channels(8, 48), 3, {.stride = 2, .bias = true}));
    while (x.dims[2] >= 7) {
      for (int i = 0; i < blocks; ++i) x = Block(x, dice_.Chance(0.6f) ? int(x.dims[1]) : Narrow(x), 1);
      x = Block(x, Narrow(x), 2);
    }
    b_.Output(b_.Dense(b_.Flatten(b_.GlobalAveragePool(x)), 1000), "out");
  }

 private:
  // Draws a number of channels that is larger for smaller images.
  int Narrow(const Tensor& x) {
    const int64_t most = std::clamp<int64_t>(3584 / x.dims[2], 32, 384);
    return dice_.Channels(most / 4, most);
  }

  Tensor Block(const Tensor& x, int channels, int stride) {
    const int wide = std::min(dice_.Of({1, 2, 3, 4, 6, 6}) * int(x.dims[1]), 1536);
    Tensor y = wide == x.dims[1] ? x : Activate(b_.Conv(x, wide, 1, {.bias = true}));
    y = Activate(b_.Conv(y, wide, dice_.Of({3, 3, 5}), {.stride = stride, .groups = wide, .bias = true}));
    if (dice_.Chance(0.5f)) y = Gated(b_, dice_, y, std::max<int64_t>(8, y.dims[1] / 2));
    y = b_.Conv(y, channels, 1, {.bias = true});
    return stride == 1 && channels == x.dims[1] ? b_.Add(x, y) : dice_.Chance(0.3f) ? Activate(y) : y;
  }

  Tensor Activate(const Tensor& x) { return Activated(b_, x, dice_.Of({0, 0, 1, 2, 3, 4})); }

  GraphBuilder& b_;
  Dice dice_;
};

class SequenceProbe {
 public:
  SequenceProbe(GraphBuilder& b, uint64_t seed) : b_(b), dice_(seed) {}

  void Build(int features, int patch, int layers, int widest) {
    const int side = 224 / patch;
    Tensor x = b_.Conv(b_.Image(3, 224, 224), features, patch, {.stride = patch, .pad = 0, .bias = true});
    x = b_.Transpose(b_.Reshape(x, {1, features, side * side}), {0, 2, 1});
    for (int i = 0; i < layers; ++i) {
      x = b_.Add(x, Attention(b_, b_.LayerNorm(x), features / dice_.Of({16, 32, 64})));
      const Tensor wide = b_.Linear(b_.LayerNorm(x), dice_.Channels(64, widest));
      x = b_.Add(x, b_.Linear(dice_.Chance(0.7f) ? b_.Gelu(wide) : b_.Relu(wide), features));
    }
    b_.Output(b_.Dense(b_.Row(b_.LayerNorm(x), 1, 0), dice_.Channels(64, 4096)), "out");
  }

 private:
  GraphBuilder& b_;
  Dice dice_;
};

// LSTM layers in sequence, with few steps: their time is proportional to the steps.
void Recurrent(GraphBuilder& b) {
  Dice dice(26);
  Tensor x = b.Reshape(b.Image(1, 12, 64), {12, 1, 64});
  for (int i = 0; i < 12; ++i) x = b.Lstm(x, dice.Channels(16, 160));
  b.Output(x, "out");
}

// Channel shuffles between convolutions: transposes of matrices with few rows, one matrix per pixel.
void Shuffles(GraphBuilder& b) {
  Dice dice(28);
  Tensor x = b.Relu(b.Conv(b.Image(3, 112, 112), 24, 3, {.stride = 2, .bias = true}));
  while (x.dims[2] >= 7) {
    for (const int64_t groups : {2, 3, 4, 2}) {
      // 12 is a multiple of all numbers of groups.
      const int64_t channels = dice.Channels(24, 1024) / 12 * 12, height = x.dims[2], width = x.dims[3];
      x = b.Relu(b.Conv(x, int(channels), 1, {.bias = true}));
      x = b.Transpose(b.Reshape(x, {1, groups, channels / groups, height, width}), {0, 2, 1, 3, 4});
      x = b.Reshape(x, {1, channels, height, width});
    }
    x = b.MaxPool(x, 3, {});
  }
  b.Output(b.Dense(b.Flatten(b.GlobalAveragePool(x)), 1000), "out");
}

}  // namespace

const std::vector<Probe>& Probes() {
  // The first one is small: tests, also those under emulators, measure it alone.
  static const std::vector<Probe> probes = {
      {"images of 64, few layers", [](GraphBuilder& b) { ImageProbe(b, 31).Build(64, 6, 96); }},
      {"images of 224, light", [](GraphBuilder& b) { ImageProbe(b, 1).Build(224, 10, 256); }},
      {"images of 224, wide", [](GraphBuilder& b) { ImageProbe(b, 2).Build(224, 8, 2048); }},
      {"images of 299, wide", [](GraphBuilder& b) { ImageProbe(b, 3).Build(299, 8, 2048); }},
      {"images of 227, light", [](GraphBuilder& b) { ImageProbe(b, 4).Build(227, 10, 320); }},
      {"images of 160, wide", [](GraphBuilder& b) { ImageProbe(b, 5).Build(160, 12, 2048); }},
      {"images of 257, light", [](GraphBuilder& b) { ImageProbe(b, 6).Build(257, 10, 512); }},
      {"images of 112, wide", [](GraphBuilder& b) { ImageProbe(b, 11).Build(112, 16, 2048); }},
      {"sequences of 196", [](GraphBuilder& b) { SequenceProbe(b, 7).Build(192, 16, 5, 1024); }},
      {"sequences of 256, wide", [](GraphBuilder& b) { SequenceProbe(b, 8).Build(448, 14, 4, 2048); }},
      {"sequences of 64, wide", [](GraphBuilder& b) { SequenceProbe(b, 15).Build(768, 28, 3, 3072); }},
      {"sequences of 49", [](GraphBuilder& b) { SequenceProbe(b, 16).Build(320, 32, 5, 1536); }},
      {"phones, images of 224", [](GraphBuilder& b) { MobileProbe(b, 21).Build(224, 5); }},
      {"phones, images of 192", [](GraphBuilder& b) { MobileProbe(b, 22).Build(192, 5); }},
      {"phones, images of 160", [](GraphBuilder& b) { MobileProbe(b, 23).Build(160, 6); }},
      {"phones, images of 257", [](GraphBuilder& b) { MobileProbe(b, 24).Build(257, 4); }},
      {"phones, images of 128", [](GraphBuilder& b) { MobileProbe(b, 25).Build(128, 8); }},
      {"recurrent", Recurrent},
      {"first layers", Stems},
      {"depthwise", ByChannel},
      {"three by three", [](GraphBuilder& b) { WideProbe(b, 12).Build(224, 64, 512); }},
      {"three by three, small", [](GraphBuilder& b) { WideProbe(b, 13).Build(120, 64, 512); }},
      {"three by three, narrow", [](GraphBuilder& b) { WideProbe(b, 14).Build(224, 64, 192); }},
      {"three by three, many weights", [](GraphBuilder& b) { WideProbe(b, 17).Build(56, 256, 512); }},
      {"channel shuffles", Shuffles},
      {"bytes, images of 224, light", [](GraphBuilder& b) { ByteLayers(b, 32, 224, 8, 256); }},
      {"bytes, images of 160, wide", [](GraphBuilder& b) { ByteLayers(b, 33, 160, 8, 1024); }},
      {"bytes, images of 299, wide", [](GraphBuilder& b) { ByteLayers(b, 34, 299, 6, 2048); }},
      {"bytes, pools", BytePools},
      {"bytes, attention", ByteAttention},
  };
  return probes;
}

}  // namespace mete::zoo
