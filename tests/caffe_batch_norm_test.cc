// What BN and BatchNorm of Caffe's forks compute, alone and behind a convolution that they become a part of,
// against plain loops.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe_files_testing.h"

namespace mete {
namespace {

constexpr int kN = 2, kC = 3, kSize = 5 * 7;
using Blobs = std::vector<std::vector<float>>;

std::vector<float> Input() {
  std::vector<float> values(size_t(kN * kC * kSize));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(int(i * 37 % 101) - 50) * 0.03f;
  return values;
}

// The factors of a convolution of one pixel that mixes the channels.
const std::vector<float> kMix = {1, -2, 0.5f, 0.25f, 1, 1, -1, 0, 2};

std::vector<double> Mixed(const std::vector<float>& in) {
  std::vector<double> out(in.size());
  for (int n = 0; n < kN; ++n)
    for (int c = 0; c < kC; ++c)
      for (int k = 0; k < kC; ++k)
        for (int i = 0; i < kSize; ++i)
          out[size_t((n * kC + c) * kSize + i)] +=
              double(kMix[size_t(c * kC + k)]) * in[size_t((n * kC + k) * kSize + i)];
  return out;
}

// Runs the layer alone and behind the convolution; y = x * factor + summand for each channel. Values stay
// below 64: a few roundings of f32 are below 64 * 8 * 6e-8.
void ExpectChannels(const std::string& layer, const Blobs& blobs, const std::vector<double>& factor,
                    const std::vector<double>& summand) {
  const std::string input =
      "layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 3 dim: 5 dim: 7 } } "
      "} ";
  const std::string conv =
      "layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv' convolution_param { num_output: 3 "
      "kernel_size: 1 bias_term: false } } ";
  const std::vector<float> in = Input();
  for (const bool mixed : {false, true}) {
    const std::string blob = mixed ? "conv" : "data",
                      top = mixed ? "conv" : "y";  // in place, as in the forks
    caffe::Weights weights;
    AddWeights(weights, "conv", {3, 3, 1, 1}, kMix);
    for (const auto& values : blobs)
      AddWeights(weights, "l",
                 values.size() == 1 ? std::vector<int64_t>{1} : std::vector<int64_t>{1, kC, 1, 1}, values);
    const Model model = LoadNet(input + (mixed ? conv : "") + "layer { name: 'l' bottom: '" + blob +
                                    "' top: '" + top + "' " + layer + " }",
                                weights);
    const std::vector<double> x = mixed ? Mixed(in) : std::vector<double>(in.begin(), in.end());
    for (const bool reference : {true, false}) {
      SCOPED_TRACE(testing::Message()
                   << layer << (mixed ? ", mixed" : "") << (reference ? ", reference" : ""));
      const Tensor y = Session(model, {.reference = reference}).Run({Floats({kN, kC, 5, 7}, in)}).at(0);
      ASSERT_EQ(y.shape(), (Shape{kN, kC, 5, 7}));
      for (size_t i = 0; i < x.size(); ++i) {
        const size_t c = i / kSize % kC;
        ASSERT_NEAR(y.as<float>()[i], x[i] * factor[c] + summand[c], 64 * 8 * 6e-8) << i;
      }
    }
  }
}

const std::vector<float> kScale = {0.5f, -2, 3}, kShift = {1, 0.25f, -4}, kMean = {0.5f, -1, 2},
                         kVariance = {4, 0.25f, 1};

// Returns factors and summands of (x - mean) / sqrt(variance + eps) * scale + shift.
std::pair<std::vector<double>, std::vector<double>> Folded(double eps) {
  std::vector<double> factor, summand;
  for (size_t c = 0; c < kC; ++c) {
    factor.push_back(kScale[c] / std::sqrt(kVariance[c] + eps));
    summand.push_back(kShift[c] - kMean[c] * factor.back());
  }
  return {factor, summand};
}

TEST(CaffeBatchNorms, BnOfSegNetScalesAndShifts) {
  ExpectChannels("type: 'BN' bn_param { bn_mode: INFERENCE }", {kScale, kShift}, {0.5, -2, 3}, {1, 0.25, -4});
}

TEST(CaffeBatchNorms, BnOfPspNetNormalizesScalesAndShifts) {
  const auto [factor, summand] = Folded(1e-5);
  ExpectChannels("type: 'BN' bn_param { frozen: true momentum: 0.95 }", {kScale, kShift, kMean, kVariance},
                 factor, summand);
  const auto [smaller, moved] = Folded(0.5);
  ExpectChannels("type: 'BN' bn_param { eps: 0.5 }", {kScale, kShift, kMean, kVariance}, smaller, moved);
}

TEST(CaffeBatchNorms, BatchNormOfNvidiasForkScalesAndShifts) {
  const auto [factor, summand] = Folded(1e-5);
  ExpectChannels("type: 'BatchNorm' batch_norm_param { scale_bias: true eps: 1e-9 }",
                 {kMean, kVariance, {1}, kScale, kShift}, factor, summand);
}

}  // namespace
}  // namespace mete
