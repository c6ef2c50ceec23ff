// LSTMs of Caffe, against plain loops.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe_files_testing.h"

namespace mete {
namespace {

using Values = std::vector<double>;

// Steps, sequences, features and units of an LSTM.
constexpr int kT = 5, kS = 2, kI = 3, kU = 4;

std::vector<float> Made(int count, int factor) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(float(i * factor % 101 - 50) * 0.02f);
  return values;
}

// What an LSTM of Caffe computes, in loops: gates are the input, forget, output and cell gate, and states and
// cells are multiplied by the indicator before each step.
Values LstmInLoops(const std::vector<float>& x, const std::vector<float>& w, const std::vector<float>& b,
                   const std::vector<float>& r, const std::vector<float>& on) {
  Values out(size_t(kT * kS * kU)), h(kS * kU), c(kS * kU);
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (int t = 0; t < kT; ++t)
    for (int n = 0; n < kS; ++n) {
      Values next(kU);
      const double goes_on = on[size_t(t * kS + n)];
      for (int u = 0; u < kU; ++u) {
        double gate[4];
        for (int g = 0; g < 4; ++g) {
          const int row = g * kU + u;
          gate[g] = b[size_t(row)];
          for (int i = 0; i < kI; ++i)
            gate[g] += double(w[size_t(row * kI + i)]) * x[size_t((t * kS + n) * kI + i)];
          for (int k = 0; k < kU; ++k)
            gate[g] += double(r[size_t(row * kU + k)]) * goes_on * h[size_t(n * kU + k)];
        }
        double& cell = c[size_t(n * kU + u)];
        cell = sigmoid(gate[1]) * goes_on * cell + sigmoid(gate[0]) * std::tanh(gate[3]);
        next[size_t(u)] = sigmoid(gate[2]) * std::tanh(cell);
      }
      for (int u = 0; u < kU; ++u)
        out[size_t((t * kS + n) * kU + u)] = h[size_t(n * kU + u)] = next[size_t(u)];
    }
  return out;
}

// As in the networks of CRNN: the features of an image's columns are the steps, and an indicator is a
// constant or an input, by which sequences begin anywhere.
TEST(CaffeLstms, LstmStartsAgainWhereTheIndicatorSaysSo) {
  const std::vector<float> x = Made(kT * kS * kI, 37), w = Made(4 * kU * kI, 29), b = Made(4 * kU, 17),
                           r = Made(4 * kU * kU, 23);
  caffe::Weights weights;
  AddWeights(weights, "l", {4 * kU, kI}, w);
  AddWeights(weights, "l", {4 * kU}, b);
  AddWeights(weights, "l", {4 * kU, kU}, r);
  const std::string
      input = "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 5 dim: 2 dim: 3 } } } ",
      lstm =
          "layer { name: 'l' type: 'LSTM' bottom: 'x' bottom: 'on' top: 'y' recurrent_param { num_output: 4 "
          "} }";
  const std::string
      constant =
          "layer { name: 'on' type: 'ContinuationIndicator' top: 'on' continuation_indicator_param { "
          "time_step: 5 batch_size: 2 } } ",
      given = "layer { name: 'on' type: 'Input' top: 'on' input_param { shape { dim: 5 dim: 2 } } } ";
  const std::vector<float> whole{0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, anywhere{0, 1, 1, 1, 1, 0, 0, 1, 1, 0.5f};
  const auto expect = [&](const std::string& net, const std::vector<float>& on,
                          const std::vector<Tensor>& inputs) {
    const Values want = LstmInLoops(x, w, b, r, on);
    for (const bool reference : {true, false}) {
      const Tensor y = Session(LoadNet(net, weights), {.reference = reference}).Run(inputs).at(0);
      ASSERT_EQ(y.shape(), (Shape{kT, kS, kU}));
      // Sums of 8 products below 1 and three activations of 5e-7 each, over 5 steps.
      for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(y.as<float>()[i], want[i], 2e-5) << i;
    }
  };
  const Tensor in = Floats({kT, kS, kI}, x);
  expect(input + constant + lstm, whole, {in});
  for (const auto& on : {whole, anywhere}) expect(input + given + lstm, on, {in, Floats({kT, kS}, on)});
}

// The third bottom has features of whole sequences: each step sees them behind its own.
TEST(CaffeLstms, FeaturesOfASequenceAreThoseOfEachOfItsSteps) {
  constexpr int kOwn = 2, kStill = kI - kOwn;
  const std::vector<float> own = Made(kT * kS * kOwn, 37), still = Made(kS * kStill, 53),
                           w_own = Made(4 * kU * kOwn, 29), w_still = Made(4 * kU * kStill, 31),
                           b = Made(4 * kU, 17), r = Made(4 * kU * kU, 23);
  const std::vector<float> on{0, 0, 1, 1, 1, 0, 1, 1, 1, 1};
  std::vector<float> x, w;  // of an LSTM without a third bottom
  for (int row = 0; row < kT * kS; ++row)
    for (int i = 0; i < kI; ++i)
      x.push_back(i < kOwn ? own[size_t(row * kOwn + i)] : still[size_t(row % kS * kStill + i - kOwn)]);
  for (int row = 0; row < 4 * kU; ++row)
    for (int i = 0; i < kI; ++i)
      w.push_back(i < kOwn ? w_own[size_t(row * kOwn + i)] : w_still[size_t(row * kStill + i - kOwn)]);
  caffe::Weights weights;
  AddWeights(weights, "l", {4 * kU, kOwn}, w_own);
  AddWeights(weights, "l", {4 * kU}, b);
  AddWeights(weights, "l", {4 * kU, kStill}, w_still);
  AddWeights(weights, "l", {4 * kU, kU}, r);
  const Model model = LoadNet(
      "input: 'x' input_shape { dim: 5 dim: 2 dim: 2 } input: 'on' input_shape { dim: 5 dim: 2 } "
      "input: 'still' input_shape { dim: 2 dim: 1 } "
      "layer { name: 'l' type: 'LSTM' bottom: 'x' bottom: 'on' bottom: 'still' top: 'y' recurrent_param { "
      "num_output: 4 } }",
      weights);
  const Values want = LstmInLoops(x, w, b, r, on);
  for (const bool reference : {true, false}) {
    const Tensor y =
        Session(model, {.reference = reference})
            .Run({Floats({kT, kS, kOwn}, own), Floats({kT, kS}, on), Floats({kS, kStill}, still)})
            .at(0);
    ASSERT_EQ(y.shape(), (Shape{kT, kS, kU}));
    // The same bound as of an LSTM without a third bottom.
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(y.as<float>()[i], want[i], 2e-5) << i;
  }
}

// One sequence whose recurrent weights are more than 1 MiB, which are read in every step.
TEST(CaffeLstms, AnLstmOfLargeWeightsIsRoundedAsFarAsTheUserAllows) {
  constexpr int kUnits = 264;
  std::vector<float> recurrence = Made(4 * kUnits * kUnits, 23);
  for (float& w : recurrence) w *= 0.1f;
  caffe::Weights weights;
  AddWeights(weights, "l", {4 * kUnits, kI}, Made(4 * kUnits * kI, 29));
  AddWeights(weights, "l", {4 * kUnits}, Made(4 * kUnits, 17));
  AddWeights(weights, "l", {4 * kUnits, kUnits}, recurrence);
  const std::string net =
      "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 5 dim: 1 dim: 3 } } } "
      "layer { name: 'on' type: 'ContinuationIndicator' top: 'on' continuation_indicator_param { time_step: "
      "5 } } "
      "layer { name: 'l' type: 'LSTM' bottom: 'x' bottom: 'on' top: 'y' recurrent_param { num_output: 264 } "
      "}";
  const Tensor x = Floats({kT, 1, kI}, Made(kT * kI, 37));
  const Tensor want = Session(LoadNet(net, weights), {.threads = 1}).Run({x}).at(0);
  for (const char* precision : {"auto", "w8", "w4", "bf16", "f16"}) {
    const double bound = 0.1;
    LoadOptions options{.precision = precision, .error_bound = bound, .samples = {{x}}};
    const Model model = LoadNet(net, weights, options);
    if (std::string(precision) == "auto") {
      ASSERT_EQ(model.precision().rounded.size(), 1u);
      EXPECT_EQ(model.precision().rounded.begin()->second, "w8");
    }
    const Tensor y = Session(model, {.threads = 1}).Run({x}).at(0);
    double largest = 0, apart = 0;
    for (int64_t i = 0; i < want.elements(); ++i) {
      largest = std::max(largest, std::abs(double(want.as<float>()[i])));
      apart = std::max(apart, std::abs(double(want.as<float>()[i]) - double(y.as<float>()[i])));
    }
    EXPECT_GT(apart, 0) << precision << ": nothing was rounded";
    if (std::string(precision) == "auto") {
      EXPECT_LE(apart, bound * largest);
    }
  }
}

}  // namespace
}  // namespace mete
