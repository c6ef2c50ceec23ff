// Tests that windows, Fourier transforms, the mel scale, losses and causal convolutions compute what they
// mean, beside plain loops in f64.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <complex>
#include <numbers>

#include "engine/one_node_testing.h"

namespace mete {
namespace {

using Complex = std::complex<double>;

double Angle(int64_t product, int64_t length) {
  return 2 * std::numbers::pi * double(product % length) / double(length);
}

TEST(Composed, WindowsAreSumsOfCosines) {
  struct Form {
    const char* op;
    double c0, c1, c2;
  };
  for (const Form& f : {Form{"HannWindow", 0.5, 0.5, 0}, Form{"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
                        Form{"BlackmanWindow", 0.42, 0.5, 0.08}})
    for (const int64_t size : {2, 7, 400})
      for (const int64_t periodic : {0, 1}) {
        SCOPED_TRACE(std::string(f.op) + " " + std::to_string(size));
        OneNodeModel n(f.op, "");
        n.Numbers<int64_t>("c_size", DType::kI64, {}, {size}).Int("periodic", periodic);
        ExpectNear(n.Run().at(0), {size}, [&](int64_t i) {
          const double a = 2 * std::numbers::pi * double(i) / double(size - 1 + periodic);
          return f.c0 - f.c1 * std::cos(a) + f.c2 * std::cos(2 * a);
        });
      }
}

struct Dft {
  int64_t axis = 1, parts = 1, length = 0;  // 0: that of the axis
  bool inverse = false, onesided = false;

  // The element (i, k) of the transform of x, a tensor rows x columns x parts, along the axis.
  Complex At(const Tensor& x, int64_t other, int64_t k, int64_t n) const {
    const int64_t size = x.shape()[int(axis)], columns = x.shape()[1];
    const bool mirrored = inverse && onesided;
    Complex sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = mirrored && 2 * i > n ? n - i : i;
      if (from >= size) continue;
      const int64_t at = (axis == 1 ? other * columns + from : from * columns + other) * parts;
      Complex value(double(x.as<float>()[at]), parts == 2 ? double(x.as<float>()[at + 1]) : 0);
      if (from != i) value = std::conj(value);
      // A frequency that is its own mirror image is real in each transform of real numbers.
      if (mirrored && (i == 0 || 2 * i == n)) value = value.real();
      sum += value * std::polar(1.0, (inverse ? 1 : -1) * Angle(i * k, n));
    }
    return inverse ? sum / double(n) : sum;
  }
};

void CheckDft(const Dft& d, bool open) {
  OneNodeModel n("DFT", "");
  n.Floats("x", {6, 5, d.parts}, 0.1f);
  if (d.length != 0) n.Numbers<int64_t>("c_length", DType::kI64, {}, {d.length});
  n.Int("axis", d.axis).Int("inverse", d.inverse).Int("onesided", d.onesided);
  const Tensor x = n["x"];
  const Tensor y = (open ? n.Open() : n).Run().at(0);
  const bool reals = d.inverse && d.onesided;
  const int64_t size = x.shape()[int(d.axis)];
  const int64_t length = d.length != 0 ? d.length : reals ? 2 * (size - 1) : size;
  const int64_t out = d.onesided && !d.inverse ? length / 2 + 1 : length, parts = reals ? 1 : 2;
  const Shape shape = d.axis == 1 ? Shape{6, out, parts} : Shape{out, 5, parts};
  ExpectNear(y, shape, [&](int64_t i) {
    const int64_t part = i % parts, column = i / parts % shape[1], row = i / parts / shape[1];
    const Complex value = d.axis == 1 ? d.At(n["x"], row, column, length) : d.At(n["x"], column, row, length);
    return part == 0 ? value.real() : value.imag();
  });
}

TEST(Composed, FourierTransformsOfAllForms) {
  for (const int64_t axis : {0, 1})
    for (const int64_t length : {0, 1, 3, 4, 9})
      for (const int64_t parts : {1, 2})
        for (const bool inverse : {false, true})
          for (const bool onesided : {false, true}) {
            if (onesided && (parts == 2) != inverse) continue;
            SCOPED_TRACE("axis " + std::to_string(axis) + " length " + std::to_string(length) + " parts " +
                         std::to_string(parts) + (inverse ? " inverse" : "") + (onesided ? " onesided" : ""));
            CheckDft({axis, parts, length, inverse, onesided}, false);
          }
}

TEST(Composed, AFourierTransformOfOpenSizes) { CheckDft({1, 1, 0, false, true}, true); }

// The axis is an input of the model: each run has another one.
TEST(Composed, AFourierTransformAlongAComputedAxis) {
  for (const bool onesided : {false, true})
    for (const bool inverse : {false, true})
      for (const int64_t length : {0, 3, 4, 9}) {
        const int64_t parts = onesided == inverse ? 2 : 1;
        const std::vector<int64_t> shape{6, 5, 2, parts};
        const auto dft = [&](const char* axis, int64_t value) {
          OneNodeModel n("DFT", "");
          n.Floats("x", shape, 0.1f);
          if (length == 0) n.None();
          else n.Numbers<int64_t>("c_length", DType::kI64, {}, {length});
          return n.Numbers<int64_t>(axis, DType::kI64, {}, {value})
              .Int("inverse", inverse)
              .Int("onesided", onesided);
        };
        for (const int64_t axis : {0, 1, 2, -2, -3, -4}) {
          SCOPED_TRACE(
              fmt::format("axis {} length {} inverse {} onesided {}", axis, length, inverse, onesided));
          const Tensor y = dft("c_axis", axis).Run().at(0);
          ExpectNear(dft("axis", axis).Run().at(0), y.shape(),
                     [&](int64_t i) { return double(y.as<float>()[i]); });
        }
        for (const int64_t axis : {-1, 3, 4, -5}) EXPECT_THROW((void)dft("axis", axis).Run(), Error) << axis;
      }
}

// 600 is 24 times 25, 601 has no divisors, and 1500 is 30 times 50.
TEST(Composed, LongFourierTransformsInTwoSteps) {
  for (const int64_t length : {600, 601, 1500})
    for (const int64_t parts : {1, 2})
      for (const bool inverse : {false, true})
        for (const bool onesided : {false, true}) {
          if (onesided && (parts == 2 || inverse)) continue;
          SCOPED_TRACE(
              fmt::format("length {} parts {} inverse {} onesided {}", length, parts, inverse, onesided));
          OneNodeModel n("DFT", "");
          n.Floats("x", {1, 599, parts}, 0.01f).Numbers<int64_t>("c_length", DType::kI64, {}, {length});
          n.Int("axis", 1).Int("inverse", inverse).Int("onesided", onesided);
          const Tensor x = n["x"], y = n.Run().at(0);
          const int64_t out = onesided ? length / 2 + 1 : length;
          ExpectNear(y, {1, out, 2}, [&](int64_t i) {
            Complex sum = 0;
            for (int64_t t = 0; t < 599; ++t)
              sum += Complex(double(x.as<float>()[t * parts]),
                             parts == 2 ? double(x.as<float>()[t * 2 + 1]) : 0) *
                     std::polar(1.0, (inverse ? 1 : -1) * Angle(t * (i / 2), length));
            if (inverse) sum /= double(length);
            return i % 2 == 0 ? sum.real() : sum.imag();
          });
        }
}

// Before opset 20 the axis is 1 if the node does not say it.
TEST(Composed, TheAxisOfAnOldFourierTransformIsOne) {
  OneNodeModel told("DFT", ""), untold("DFT", "");
  told.Floats("x", {2, 5, 3, 1}, 0.1f).Int("axis", 1);
  untold.Floats("x", {2, 5, 3, 1}, 0.1f);
  const Tensor y = told.Run().at(0);
  ExpectNear(untold.Run().at(0), y.shape(), [&](int64_t i) { return double(y.as<float>()[i]); });
}

TEST(Composed, FramesOfASignalAreTransformed) {
  for (const bool windowed : {false, true})
    for (const int64_t parts : {1, 2}) {
      SCOPED_TRACE(std::string(windowed ? "windowed, " : "") + std::to_string(parts));
      constexpr int64_t kLength = 6, kStep = 4, kFrames = 4;  // of 19 samples
      const bool onesided = parts == 1;
      OneNodeModel n("STFT", "");
      n.Floats("x", {2, 19, parts}, 0.1f).Numbers<int64_t>("c_step", DType::kI64, {}, {kStep});
      if (windowed) n.Floats("window", {kLength}, 0.2f);
      else n.None().Numbers<int64_t>("c_length", DType::kI64, {}, {kLength});
      n.Int("onesided", onesided);
      const int64_t out = onesided ? kLength / 2 + 1 : kLength;
      ExpectNear(n.Run().at(0), {2, kFrames, out, 2}, [&](int64_t i) {
        const int64_t k = i / 2 % out, frame = i / 2 / out % kFrames, batch = i / 2 / out / kFrames;
        Complex sum = 0;
        for (int64_t t = 0; t < kLength; ++t) {
          const float* x = n["x"].as<float>() + (batch * 19 + frame * kStep + t) * parts;
          const double weight = windowed ? double(n["window"].as<float>()[t]) : 1;
          sum += weight * Complex(double(x[0]), parts == 2 ? double(x[1]) : 0) *
                 std::polar(1.0, -Angle(t * k, kLength));
        }
        return i % 2 == 0 ? sum.real() : sum.imag();
      });
    }
}

TEST(Composed, MelBandsAreTriangles) {
  constexpr int64_t kBands = 8, kLength = 64, kRows = kLength / 2 + 1;
  OneNodeModel n("MelWeightMatrix", "");
  n.Numbers<int64_t>("c_bands", DType::kI64, {}, {kBands})
      .Numbers<int64_t>("c_n", DType::kI64, {}, {kLength});
  n.Numbers<int64_t>("c_rate", DType::kI64, {}, {8192});
  n.Numbers<float>("c_low", DType::kF32, {}, {0}).Numbers<float>("c_high", DType::kF32, {}, {4096});
  std::vector<double> edges;
  const double top = 2595 * std::log10(1 + 4096.0 / 700);
  for (int64_t i = 0; i < kBands + 2; ++i) {
    const double hertz = 700 * (std::pow(10.0, double(i) * top / double(kBands + 2) / 2595) - 1);
    edges.push_back(std::floor(hertz * double(kLength + 1) / 8192));
  }
  ExpectNear(n.Run().at(0), {kRows, kBands}, [&](int64_t i) {
    const double row = double(i / kBands);
    const double low = edges[size_t(i % kBands)], centre = edges[size_t(i % kBands) + 1],
                 high = edges[size_t(i % kBands) + 2];
    if (row >= centre && row < high) return (high - row) / (high - centre);
    if (row < low || row > centre) return 0.0;
    return centre == low ? 1.0 : (row - low) / (centre - low);
  });
}

TEST(Composed, ALossLeavesOutAClassThatIsNone) {
  OneNodeModel n("SoftmaxCrossEntropyLoss", "");
  n.Floats("x", {3, 4}, 0.3f).I32("c_classes", {3}, {2, -100, 0}).Int("ignore_index", -100);
  const Tensor y = n.Run().at(0);
  double sum = 0;
  for (const auto& [row, chosen] : {std::pair<int64_t, int64_t>{0, 2}, {2, 0}}) {
    const float* x = n["x"].as<float>() + row * 4;
    double all = 0;
    for (int64_t c = 0; c < 4; ++c) all += std::exp(double(x[c]));
    sum += std::log(all) - double(x[chosen]);
  }
  ExpectNear(y, {}, [&](int64_t) { return sum / 2; });
}

TEST(Composed, AnIgnoredElementMayHaveNoProbability) {
  OneNodeModel n("SoftmaxCrossEntropyLoss", "");
  n.Numbers<float>("x", DType::kF32, {2, 2}, {-std::numeric_limits<float>::infinity(), 0, 0, 0});
  n.I32("c_classes", {2}, {-100, 1}).Int("ignore_index", -100);
  ExpectNear(n.Run().at(0), {}, [](int64_t) { return std::log(2.0); });
}

TEST(Composed, AShortSignalHasNoFrames) {
  OneNodeModel n("STFT", "");
  n.Floats("x", {1, 3, 1}).Numbers<int64_t>("c_step", DType::kI64, {}, {2});
  n.None().Numbers<int64_t>("c_length", DType::kI64, {}, {4});
  EXPECT_EQ(n.Run().at(0).shape(), (Shape{1, 0, 3, 2}));
}

// Returns y of a network whose node `op` reads x: as it is, or behind a Slice of all its samples whose end is
// computed, so that the node's input has no known shape where the model is imported.
Tensor Transformed(const char* op, const std::vector<std::string>& others, const std::vector<int64_t>& dims,
                   int64_t axis, bool computed) {
  ModelProto m = EmptyModel(17);
  AddInput(m, "x", dims);
  const auto integers = [&](const char* name, std::vector<int64_t> values, std::vector<int64_t> shape) {
    AddRaw(m, name, TensorProto::INT64, shape, RawOf(values));
  };
  integers("zero", {0}, {1});
  integers("one", {1}, {1});
  integers("count", {6}, {});
  integers("step", {4}, {});
  if (computed) {
    NodeProto& shape = AddOp(m, "Shape", {"x"}, {"samples"});
    AddInt(shape, "start", 1);
    AddInt(shape, "end", 2);
    AddOp(m, "Mul", {"samples", "one"}, {"end"});
    AddOp(m, "Slice", {"x", "zero", "end", "one"}, {"signal"});
  }
  std::vector<std::string> inputs{computed ? "signal" : "x"};
  inputs.insert(inputs.end(), others.begin(), others.end());
  NodeProto& node = AddOp(m, op, inputs, {"y"});
  AddInt(node, "onesided", 1);
  if (std::string(op) == "DFT") AddInt(node, "axis", axis);
  AddOutput(m, "y");
  const ModelFile file(m);
  Session session(Model::Load(file.path()), SessionOptions::Estimated());
  Tensor x(DType::kF32, Shape(std::span(dims)));
  for (int64_t i = 0; i < x.elements(); ++i) x.mutable_view().as<float>()[i] = 0.1f * float(i * i % 23);
  return session.Run({x})[0];
}

TEST(Composed, ATransformKnowsNoShapeWhileItIsImported) {
  const auto expect_same = [](const char* op, const std::vector<std::string>& others,
                              const std::vector<int64_t>& dims, int64_t axis) {
    const Tensor known = Transformed(op, others, dims, axis, false),
                 unknown = Transformed(op, others, dims, axis, true);
    ASSERT_EQ(unknown.shape(), known.shape());
    for (int64_t i = 0; i < known.elements(); ++i)
      EXPECT_NEAR(unknown.as<float>()[i], known.as<float>()[i], 1e-5) << op << " " << i;  // |x| < 2.3
  };
  expect_same("STFT", {"step", "", "count"}, {2, 19}, 0);
  expect_same("STFT", {"step", "", "count"}, {2, 19, 1}, 0);
  for (const int64_t axis : {-3, -2, 0, 1}) expect_same("DFT", {"count"}, {2, 5, 9, 1}, axis);
}

std::string ErrorOf(OneNodeModel n) {
  try {
    (void)n.Load(1);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Composed, AFrameHasALengthAndAStep) {
  const auto stft = [](int64_t step, int64_t length) {
    OneNodeModel n("STFT", "");
    n.Floats("x", {1, 9, 1}).Numbers<int64_t>("c_step", DType::kI64, {}, {step});
    return n.None().Numbers<int64_t>("c_length", DType::kI64, {}, {length});
  };
  EXPECT_EQ(ErrorOf(stft(2, 4)), "");
  EXPECT_NE(ErrorOf(stft(0, 4)).find("frame_step; got 0, expected an integer of at least 1"),
            std::string::npos);
  EXPECT_NE(ErrorOf(stft(2, -5)).find("frame_length; got -5, expected"), std::string::npos);
}

TEST(Composed, WhatIsNotMeantIsRefused) {
  const auto dft = [](int64_t parts) {
    OneNodeModel n("DFT", "");
    n.Floats("x", {6, 5, parts});
    return n;
  };
  EXPECT_NE(ErrorOf(dft(1).Int("axis", 2)).find("axis; got 2, expected -3 to -2 or 0 to 1"),
            std::string::npos);
  EXPECT_NE(ErrorOf(dft(2).Int("onesided", 1)).find("onesided=1 with complex input; expected real"),
            std::string::npos);
  EXPECT_NE(ErrorOf(dft(3)).find("the last of which is 1 (real) or 2 (complex)"), std::string::npos);
  EXPECT_NE(ErrorOf(dft(1).None().Floats("c_axis", {})).find("axis; got f32 scalar, expected one integer"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf(dft(2).Numbers<int64_t>("c_length", DType::kI64, {}, {4099}))
          .find("a transform of 4099 numbers is a product with a matrix of 67207204 elements; expected at "
                "most 67108864"),
      std::string::npos);
  // The search for a divisor would take 3 * 10^9 steps.
  EXPECT_NE(ErrorOf(dft(2).Numbers<int64_t>("c_length", DType::kI64, {}, {INT64_MAX}))
                .find("a transform of 9223372036854775807 numbers"),
            std::string::npos);
  EXPECT_NE(ErrorOf(dft(1).Numbers<int64_t>("c_length", DType::kI64, {}, {-1}).Int("onesided", 1))
                .find("dft_length; got -1, expected an integer of at least 1"),
            std::string::npos);
  OneNodeModel loss("NegativeLogLikelihoodLoss", "");
  loss.Floats("x", {3, 4}).I32("c_classes", {3}, {2, 1, 0});
  AddString(loss.Node(), "reduction", "most");
  EXPECT_NE(ErrorOf(loss).find("reduction; got 'most', expected none, sum or mean"), std::string::npos);
  OneNodeModel filters("CausalConvWithState", "");
  filters.Floats("x", {1, 4, 8}).Floats("c_filters", {4, 3});
  EXPECT_NE(ErrorOf(filters).find("expected channels x 1 x taps"), std::string::npos);
}

}  // namespace
}  // namespace mete
