// Caffe layers that become several operators: what a net of one of them computes, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/caffe_files_testing.h"

namespace mete {
namespace {

constexpr int kN = 2, kC = 8, kH = 4, kW = 6;
using Values = std::vector<double>;

int At(int n, int c, int h, int w, int channels = kC, int height = kH, int width = kW) {
  return ((n * channels + c) * height + h) * width + w;
}

std::vector<float> Input() {
  std::vector<float> values(size_t(kN * kC * kH * kW));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(int(i * 37 % 101) - 50) * 0.03f;
  return values;
}

std::string NetOf(const std::string& layer) {
  return "layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 8 dim: 4 dim: 6 } "
         "} } "
         "layer { name: 'l' bottom: 'data' top: 'y' " +
         layer + " }";
}

// Runs the net with reference kernels and with fast ones.
void ExpectNet(const std::string& net, const Shape& shape, const Values& expected, double tolerance) {
  const Model model = LoadNet(net);
  for (const bool reference : {true, false}) {
    SCOPED_TRACE(reference ? "reference kernels" : "fast kernels");
    const auto made = Session(model, {.reference = reference}).Run({Floats({kN, kC, kH, kW}, Input())});
    ASSERT_EQ(made.size(), 1u);
    ASSERT_EQ(made[0].shape(), shape);
    ASSERT_EQ(size_t(made[0].elements()), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(made[0].as<float>()[i], expected[i], tolerance) << "element " << i;
  }
}

void ExpectEach(const std::string& layer, const std::function<double(double)>& f, double tolerance) {
  Values expected;
  for (float x : Input()) expected.push_back(f(x));
  ExpectNet(NetOf(layer), {kN, kC, kH, kW}, expected, tolerance);
}

TEST(CaffeLayers, ElementwiseFunctions) {
  // Values are below 2 in magnitude, and each function is a few operations of f32 with a relative error of at
  // most 4 epsilon each.
  const double tolerance = 2 * 4 * 4 * 1.2e-7;
  ExpectEach(
      "type: 'Clip' clip_param { min: -0.5 max: 1 }",
      [](double x) { return std::fmin(std::fmax(x, -0.5), 1); }, 0);
  ExpectEach(
      "type: 'Swish' swish_param { beta: 2 }", [](double x) { return x / (1 + std::exp(-2 * x)); },
      tolerance);
  ExpectEach(
      "type: 'Mish'", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, tolerance);
}

TEST(CaffeLayers, ShuffleChannelTakesAChannelOfEachGroupInTurn) {
  const auto in = Input();
  Values expected;
  for (int n = 0; n < kN; ++n)
    for (int c : {0, 2, 4, 6, 1, 3, 5, 7})  // four groups of two
      for (int i = 0; i < kH * kW; ++i) expected.push_back(in[size_t(At(n, c, 0, 0) + i)]);
  ExpectNet(NetOf("type: 'ShuffleChannel' shuffle_channel_param { group: 4 }"), {kN, kC, kH, kW}, expected,
            0);
}

// YOLO v2 reads the input's bytes as a picture of 2 channels, 8 rows and 12 columns: output channel
// (2 * dy + dx) * 2 + c has the pixels (2 * h + dy, 2 * w + dx) of channel c.
TEST(CaffeLayers, ReorgPutsBlocksOfPixelsIntoChannels) {
  const auto in = Input();
  Values expected(in.size());
  for (int n = 0; n < kN; ++n)
    for (int c = 0; c < 2; ++c)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 12; ++x)
          expected[size_t(At(n, (y % 2 * 2 + x % 2) * 2 + c, y / 2, x / 2))] =
              in[size_t(At(n, c, y, x, 2, 8, 12))];
  ExpectNet(NetOf("type: 'Reorg' reorg_param { stride: 2 }"), {kN, 32, 2, 3}, expected, 0);
}

TEST(CaffeLayers, ReverseReorgPutsChannelsIntoBlocksOfPixels) {
  const auto in = Input();
  Values expected(in.size());
  for (int n = 0; n < kN; ++n)
    for (int c = 0; c < kC; ++c)
      for (int h = 0; h < kH; ++h)
        for (int w = 0; w < kW; ++w)
          expected[size_t(At(n, c % 2, 2 * h + c / 4, 2 * w + c / 2 % 2, 2, 8, 12))] =
              in[size_t(At(n, c, h, w))];
  ExpectNet(NetOf("type: 'Reorg' reorg_param { stride: 2 reverse: true }"), {kN, 2, 8, 12}, expected, 0);
}

TEST(CaffeLayers, TileRepeatsAnAxis) {
  const auto in = Input();
  Values expected;
  for (int n = 0; n < kN; ++n)
    for (int c = 0; c < kC; ++c)
      for (int h = 0; h < 2 * kH; ++h)
        for (int w = 0; w < kW; ++w) expected.push_back(in[size_t(At(n, c, h % kH, w))]);
  ExpectNet(NetOf("type: 'Tile' tile_param { axis: 2 tiles: 2 }"), {kN, kC, 2 * kH, kW}, expected, 0);
}

// Returns the elements of groups of `size` without their mean, over their standard deviation plus `eps`.
Values Standardized(int size, bool variance, double eps) {
  Values out;
  const auto in = Input();
  for (size_t at = 0; at < in.size(); at += size_t(size)) {
    double mean = 0, square = 0;
    for (int i = 0; i < size; ++i) mean += in[at + size_t(i)] / double(size);
    for (int i = 0; i < size; ++i) square += std::pow(in[at + size_t(i)] - mean, 2) / size;
    for (int i = 0; i < size; ++i)
      out.push_back((in[at + size_t(i)] - mean) / (variance ? std::sqrt(square) + eps : 1));
  }
  return out;
}

TEST(CaffeLayers, MvnMakesMeanAndVarianceEqual) {
  // Sums of up to 192 values below 2, each rounded in f32; deviations are above 0.5.
  const double tolerance = 192 * 2 * 1.2e-7 / 0.5;
  ExpectNet(NetOf("type: 'MVN'"), {kN, kC, kH, kW}, Standardized(kH * kW, true, 1e-9), tolerance);
  ExpectNet(NetOf("type: 'MVN' mvn_param { eps: 0.25 across_channels: true }"), {kN, kC, kH, kW},
            Standardized(kC * kH * kW, true, 0.25), tolerance);
  ExpectNet(NetOf("type: 'MVN' mvn_param { normalize_variance: false }"), {kN, kC, kH, kW},
            Standardized(kH * kW, false, 0), tolerance);
}

TEST(CaffeLayers, AxpyScalesChannelsAndAdds) {
  const auto in = Input();
  Values expected;
  for (int n = 0; n < kN; ++n)
    for (int c = 0; c < kC; ++c) {
      double mean = 0;
      for (int i = 0; i < kH * kW; ++i) mean += in[size_t(At(n, c, 0, 0) + i)] / double(kH * kW);
      for (int i = 0; i < kH * kW; ++i) {
        const double x = in[size_t(At(n, c, 0, 0) + i)];
        expected.push_back(mean * x + std::abs(x));
      }
    }
  ExpectNet(
      "layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 8 dim: 4 dim: 6 } } "
      "} "
      "layer { name: 'g' type: 'Pooling' bottom: 'data' top: 'g' pooling_param { pool: AVE global_pooling: "
      "true } } "
      "layer { name: 'a' type: 'AbsVal' bottom: 'data' top: 'a' } "
      "layer { name: 'l' type: 'Axpy' bottom: 'g' bottom: 'data' bottom: 'a' top: 'y' }",
      {kN, kC, kH, kW}, expected, 24 * 2 * 2 * 1.2e-7);
}

// The batch is open in every Caffe net. What a layer gives for one image is the first half of what it gives
// for two.
TEST(CaffeLayers, AnotherBatchGivesTheSameForEachImage) {
  const auto in = Input();
  for (const char* layer :
       {"type: 'Interp' interp_param { height: 7 width: 9 }", "type: 'Upsample' upsample_param { scale: 2 }",
        "type: 'ArgMax' argmax_param { top_k: 2 out_max_val: true }",
        "type: 'Flatten' flatten_param { axis: 2 }",
        "type: 'Reshape' reshape_param { shape { dim: 0 dim: -1 dim: 6 } }", "type: 'MVN'",
        "type: 'ShuffleChannel' shuffle_channel_param { group: 4 }",
        "type: 'Reorg' reorg_param { stride: 2 }", "type: 'Tile' tile_param { axis: 1 tiles: 3 }"}) {
    SCOPED_TRACE(layer);
    Session session(LoadNet(NetOf(layer)));
    const Tensor two = session.Run({Floats({kN, kC, kH, kW}, in)}).at(0),
                 one = session.Run({Floats({1, kC, kH, kW}, {in.begin(), in.begin() + kC * kH * kW})}).at(0);
    Shape shape = two.shape();
    shape[0] = 1;
    ASSERT_EQ(one.shape(), shape);
    for (int64_t i = 0; i < one.elements(); ++i) EXPECT_NEAR(one.as<float>()[i], two.as<float>()[i], 1e-5);
  }
}

TEST(CaffeLayers, AnInnerProductOfTheLastAxisTakesAnyBatch) {
  const auto in = Input();
  caffe::Weights weights;
  AddWeights(weights, "l", {1, kW}, {1, 2, 3, 4, 5, 6});
  Session session(
      LoadNet(NetOf("type: 'InnerProduct' inner_product_param { num_output: 1 axis: -1 bias_term: false }"),
              weights));
  for (const int images : {2, 1}) {
    const std::vector<float> some(in.begin(), in.begin() + images * kC * kH * kW);
    const Tensor y = session.Run({Floats({images, kC, kH, kW}, some)}).at(0);
    ASSERT_EQ(y.shape(), (Shape{images, kC, kH, 1}));
    for (size_t row = 0; row < size_t(images * kC * kH); ++row) {
      double sum = 0;
      for (size_t w = 0; w < kW; ++w) sum += double(w + 1) * some[row * kW + w];
      EXPECT_NEAR(y.as<float>()[row], sum, 6 * 32 * 6e-8) << row;  // six sums below 32, each rounded
    }
  }
}

TEST(CaffeLayers, UnpoolingPutsMaximaBackInAnyBatch) {
  const auto in = Input();
  Session session(
      LoadNet("layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 8 dim: 4 "
              "dim: 6 } } } "
              "layer { name: 'p' type: 'Pooling' bottom: 'data' top: 'p' top: 'm' pooling_param { "
              "kernel_size: 2 stride: 2 "
              "} } layer { name: 'l' type: 'Upsample' bottom: 'p' bottom: 'm' top: 'y' upsample_param { "
              "scale: 2 } }"));
  for (const int images : {2, 1}) {
    const std::vector<float> some(in.begin(), in.begin() + images * kC * kH * kW);
    const Tensor y = session.Run({Floats({images, kC, kH, kW}, some)}).at(0);
    ASSERT_EQ(y.shape(), (Shape{images, kC, kH, kW}));
    for (int c = 0; c < images * kC; ++c)
      for (int h = 0; h < kH; ++h)
        for (int w = 0; w < kW; ++w) {
          float most = -INFINITY;
          for (int i = 0; i < 4; ++i)
            most = std::fmax(most, some[size_t(At(0, c, h / 2 * 2 + i / 2, w / 2 * 2 + i % 2))]);
          const size_t at = size_t(At(0, c, h, w));
          EXPECT_EQ(y.as<float>()[at], some[at] == most ? most : 0);
        }
  }
}

// The maximum or the average of a window that may begin before the picture or end behind it. Caffe counts
// padding in averages.
double Pooled(const std::vector<float>& in, int n, int c, int y, int x, int height, int width, bool max) {
  double most = -INFINITY, sum = 0;
  for (int h = std::max(y, 0); h < std::min(y + height, kH); ++h)
    for (int w = std::max(x, 0); w < std::min(x + width, kW); ++w) {
      const double v = in[size_t(At(n, c, h, w))];
      most = std::max(most, v);
      sum += v;
    }
  return max ? most : sum / (height * width);
}

TEST(CaffeLayers, SppPoolsWholePicturesHalvesAndQuarters) {
  const auto in = Input();
  // Of 4 x 6 pixels, 4 bins in a row have 2 pixels each, the first and the last one of padding.
  const struct { int bins, height, width, pad_x; } levels[] = {{1, 4, 6, 0}, {2, 2, 3, 0}, {4, 1, 2, 1}};
  for (const bool max : {true, false}) {
    Values expected;
    for (int n = 0; n < kN; ++n)
      for (const auto& level : levels)
        for (int c = 0; c < kC; ++c)
          for (int i = 0; i < level.bins * level.bins; ++i)
            expected.push_back(Pooled(in, n, c, i / level.bins * level.height,
                                      i % level.bins * level.width - level.pad_x, level.height, level.width,
                                      max));
    ExpectNet(
        NetOf(std::string("type: 'SPP' spp_param { pyramid_height: 3 pool: ") + (max ? "MAX" : "AVE") + " }"),
        {kN, kC * (1 + 4 + 16)}, expected, max ? 0 : 24 * 2 * 1.2e-7);
  }
}

TEST(CaffeLayers, ReverseTurnsAnAxisRound) {
  const auto in = Input();
  Values expected;
  for (int n = 0; n < kN; ++n)
    for (int c = 0; c < kC; ++c)
      for (int h = 0; h < kH; ++h)
        for (int i = 0; i < kW; ++i) expected.push_back(in[size_t(At(n, kC - 1 - c, h, i))]);
  ExpectNet(NetOf("type: 'Reverse' reverse_param { axis: 1 }"), {kN, kC, kH, kW}, expected, 0);
}

}  // namespace
}  // namespace mete
