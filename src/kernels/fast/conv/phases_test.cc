#include "kernels/fast/conv/phases.h"

#include <gtest/gtest.h>

#include "base/half.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/half/half_conv.h"
#include "kernels/fast/test_util.h"

namespace mete {
namespace {

// A transposed convolution with random operands, phase by phase, and as a plain sum in double. With operands
// of kBf16 or kF16 these are halves, so that the kernels round none of them.
class TransposedProblem {
 public:
  TransposedProblem(const ConvShape& shape, FusedOp op, uint32_t seed, Precision operands = Precision::kF32)
      : s_(shape), operands_(operands) {
    RandomData random(seed);
    input_ = random.Floats(s_.batch * s_.in_height * s_.in_width * s_.in_channels);
    weights_ = random.Floats(s_.in_channels * GroupOutputs() * s_.kernel_height * s_.kernel_width);
    for (std::vector<float>* values : {&input_, &weights_})
      for (float& v : *values)
        v = operands == Precision::kBf16  ? BF16ToF32(F32ToBF16(v))
            : operands == Precision::kF16 ? F16ToF32(F32ToF16(v))
                                          : v;
    bias_ = random.Floats(s_.out_channels);
    residual_ = random.Floats(s_.out_pixels() * s_.out_channels);
    epilogue_.activation = {op, 0.1f, 3};
    with_residual_ = seed % 2 == 1;
  }

  // Runs each phase in blocks of at most `rows` rows.
  std::vector<float> Run(int64_t rows) const {
    std::vector<float> out(static_cast<size_t>(s_.out_pixels() * s_.out_channels), NAN);
    for (const ConvPhase& phase : PhasesOf(s_)) {
      const std::vector<float> weights = PhaseWeights(s_, phase, weights_.data());
      for (int64_t n = 0; n < s_.batch; ++n) {
        for (int64_t y = 0; y < phase.conv.out_height; y += rows)
          RunRows(phase, weights, n, {y, std::min(phase.conv.out_height, y + rows)}, out.data());
      }
    }
    return out;
  }

  void Check(const std::vector<float>& out) const {
    const int64_t k = s_.in_channels / s_.groups * s_.kernel_height * s_.kernel_width;
    for (int64_t p = 0; p < s_.out_pixels(); ++p) {
      for (int64_t m = 0; m < s_.out_channels; ++m) {
        double magnitude = 1;
        double sum = Sum(p, m, &magnitude) + bias_[static_cast<size_t>(m)];
        const size_t at = static_cast<size_t>(p * s_.out_channels + m);
        if (with_residual_) sum += residual_[at];
        ASSERT_NEAR(out[at], ActivateOracle(epilogue_.activation, sum), SumTolerance(k + 2, magnitude + 2))
            << "pixel " << p << " channel " << m;
      }
    }
  }

 private:
  int64_t GroupInputs() const { return s_.in_channels / s_.groups; }
  int64_t GroupOutputs() const { return s_.out_channels / s_.groups; }

  void RunRows(const ConvPhase& phase, const std::vector<float>& weights, int64_t n, Range rows,
               float* out) const {
    const ConvShape& conv = phase.conv;
    const int64_t image = n * s_.out_height * s_.out_width * s_.out_channels + phase.first;
    const float* x = input_.data() + n * s_.in_height * s_.in_width * s_.in_channels;
    const std::vector<float> bias = PhaseBias(s_, phase, bias_.data());
    Epilogue epilogue = epilogue_;
    epilogue.bias = bias.data();
    if (with_residual_) epilogue.residual = residual_.data() + image;
    if (IsDepthwise(conv)) {
      const DepthwisePlan plan = PlanDepthwise(conv);
      std::vector<float> packed(PackedDepthwiseBytes(plan) / sizeof(float));
      PackDepthwise(plan, weights.data(), packed.data());
      return RunDepthwise(plan, x, packed.data(), epilogue, rows, {0, conv.out_channels}, out + image);
    }
    const Range pixels{rows.begin * conv.out_width, rows.end * conv.out_width};
    if (operands_ != Precision::kF32) return RunHalves(conv, weights, epilogue, x, pixels, out + image);
    const ConvPlan plan = PlanConv(conv);
    std::vector<float> packed(PackedConvBytes(plan) / sizeof(float));
    std::vector<double> scratch(ConvScratchBytes(plan) / sizeof(double) + 1);
    PackConv(plan, weights.data(), {0, plan.panels}, packed.data());
    RunConv(plan, x, packed.data(), epilogue, pixels, {0, plan.panels}, out + image, scratch.data());
  }

  void RunHalves(const ConvShape& conv, const std::vector<float>& weights, const Epilogue& epilogue,
                 const float* x, Range pixels, float* out) const {
    const HalfConvPlan plan = PlanHalfConv(conv, operands_);
    std::vector<float> packed(PackedHalfConvBytes(plan) / sizeof(float) + 1);
    std::vector<double> scratch(HalfConvScratchBytes(plan) / sizeof(double) + 1);
    const int64_t length = conv.in_channels / conv.groups * conv.kernel_height * conv.kernel_width;
    PackHalfConv(plan, {weights.data(), length, true}, {0, plan.panels}, packed.data());
    const Range panels{0, plan.panels};
    if (!RoundsInputs(plan))
      return RunHalfConv(plan, x, packed.data(), epilogue, pixels, panels, out, scratch.data());
    const int64_t inputs = s_.in_height * s_.in_width * s_.in_channels;
    std::vector<uint16_t> halves(static_cast<size_t>(inputs));
    RoundInputs(plan, x, inputs, halves.data());
    RunHalfConv(plan, halves.data(), packed.data(), epilogue, pixels, panels, out, scratch.data());
  }

  double Sum(int64_t pixel, int64_t m, double* magnitude) const {
    const int64_t x = pixel % s_.out_width, y = pixel / s_.out_width % s_.out_height,
                  n = pixel / s_.out_width / s_.out_height;
    double sum = 0;
    for (int64_t ky = 0; ky < s_.kernel_height; ++ky) {
      for (int64_t kx = 0; kx < s_.kernel_width; ++kx) {
        const int64_t iy = y + s_.pad_top - ky * s_.dilation_y, ix = x + s_.pad_left - kx * s_.dilation_x;
        if (iy < 0 || ix < 0 || iy % s_.stride_y != 0 || ix % s_.stride_x != 0) continue;
        if (iy / s_.stride_y >= s_.in_height || ix / s_.stride_x >= s_.in_width) continue;
        const int64_t from = (n * s_.in_height + iy / s_.stride_y) * s_.in_width + ix / s_.stride_x;
        for (int64_t c = 0; c < GroupInputs(); ++c) {
          const int64_t in = m / GroupOutputs() * GroupInputs() + c;
          const int64_t tap = (in * GroupOutputs() + m % GroupOutputs()) * s_.kernel_height + ky;
          const double product = double(input_[static_cast<size_t>(from * s_.in_channels + in)]) *
                                 double(weights_[static_cast<size_t>(tap * s_.kernel_width + kx)]);
          sum += product;
          *magnitude += std::abs(product);
        }
      }
    }
    return sum;
  }

  ConvShape s_;
  Precision operands_;
  std::vector<float> input_, weights_, bias_, residual_;
  Epilogue epilogue_;
  bool with_residual_ = false;
};

// Returns the shape whose output has `more` rows and columns than its taps reach without padding behind.
ConvShape SizedOutput(ConvShape s, int64_t more) {
  const auto size = [&](int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
    return std::max<int64_t>(1, (in - 1) * stride + (kernel - 1) * dilation + 1 - pad + more);
  };
  s.out_height = size(s.in_height, s.kernel_height, s.stride_y, s.dilation_y, s.pad_top);
  s.out_width = size(s.in_width, s.kernel_width, s.stride_x, s.dilation_x, s.pad_left);
  return s;
}

void CheckRandomShapes(Precision operands, uint32_t seeds) {
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    RandomData random(seed);
    const bool depthwise = seed % 4 == 0 && operands == Precision::kF32;
    const int64_t groups = depthwise ? random.Int(1, 40) : random.Int(1, 3);
    ConvShape s;
    s.batch = random.Int(1, 2);
    s.in_height = random.Int(1, 6);
    s.in_width = random.Int(1, 20);
    s.groups = groups;
    s.in_channels = groups * (depthwise ? 1 : random.Int(1, 20));
    s.out_channels = groups * (depthwise ? 1 : random.Int(1, 40));
    s.kernel_height = random.Int(1, 5);
    s.kernel_width = random.Int(1, 6);
    s.stride_y = random.Int(1, 4);
    s.stride_x = random.Int(1, 4);
    s.dilation_y = random.Int(1, 3);
    s.dilation_x = random.Int(1, 4);
    s.pad_top = random.Int(0, 4);
    s.pad_left = random.Int(0, 4);
    s = SizedOutput(s, random.Int(-2, 2));
    SCOPED_TRACE(::testing::Message() << "seed " << seed << " " << Name(operands));
    const TransposedProblem problem(s, kAllActivations[seed % std::size(kAllActivations)], seed, operands);
    const std::vector<float> whole = problem.Run(INT32_MAX);
    problem.Check(whole);
    ASSERT_EQ(problem.Run(random.Int(1, 3)), whole) << "blocks of rows change bits";
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ConvPhases, RandomShapesMatchTheSumInDouble) {
  OnEveryTarget([](const std::string&) { CheckRandomShapes(Precision::kF32, 80); });
}

TEST(ConvPhases, OfHalvesMatchTheSumInDouble) {
  OnEveryTargetAndFeature([] {
    for (const Precision half : {Precision::kBf16, Precision::kF16}) CheckRandomShapes(half, 20);
  });
}

void CheckJoinedPhases(Precision operands) {
  uint32_t seed = 0;
  for (const int64_t stride : {2, 3})
    for (const int64_t height : {2, 5})
      for (const int64_t channels : {1, 7, 33}) {
        ConvShape s;
        s.batch = 2;
        s.in_height = 3;
        s.in_width = 5;
        s.in_channels = 9;
        s.out_channels = channels;
        s.kernel_height = height;
        s.stride_y = 2;
        s.pad_top = height / 3;
        s.kernel_width = s.stride_x = stride;
        s = SizedOutput(s, 0);
        EXPECT_EQ(PhasesOf(s).size(), 2u) << "one for each rest of the rows";
        const TransposedProblem problem(s, FusedOp::kRelu, ++seed, operands);
        const std::vector<float> whole = problem.Run(INT32_MAX);
        problem.Check(whole);
        ASSERT_EQ(problem.Run(1), whole) << "blocks of rows change bits";
        if (::testing::Test::HasFailure()) return;
      }
}

TEST(ConvPhases, OfARowAreJoinedWhereTheKernelIsAsWideAsTheStride) {
  OnEveryTarget([](const std::string&) { CheckJoinedPhases(Precision::kF32); });
}

TEST(ConvPhases, OfHalvesAreJoinedAsThoseOfFloats) {
  OnEveryTargetAndFeature([] {
    for (const Precision half : {Precision::kBf16, Precision::kF16}) CheckJoinedPhases(half);
  });
}

TEST(ConvPhases, HaveNoMoreTapsThanTheKernel) {
  ConvShape s;
  s.in_height = s.in_width = 5;
  s.kernel_height = s.kernel_width = 3;
  s.stride_y = s.stride_x = 2;
  s.pad_top = s.pad_left = 1;
  s.out_height = s.out_width = 10;
  int64_t taps = 0;
  const std::vector<ConvPhase> phases = PhasesOf(s);
  EXPECT_EQ(phases.size(), 4u);
  for (const ConvPhase& phase : phases) taps += phase.conv.kernel_height * phase.conv.kernel_width;
  EXPECT_EQ(taps, 9);
}

// The stride is far longer than the output: memory follows from the output alone.
TEST(ConvPhases, AreNoMoreThanThePixelsOfTheOutput) {
  ConvShape s;
  s.out_width = 3;
  s.stride_y = s.stride_x = 1000;
  EXPECT_EQ(PhasesOf(s).size(), 3u);
}

// Nine of ten phases of each axis read nothing.
TEST(ConvPhases, WithoutTapsHaveFewWeights) {
  ConvShape s;
  s.in_channels = s.out_channels = 20;
  s.stride_y = s.stride_x = s.out_height = s.out_width = 10;
  size_t weights = 0;
  const std::vector<float> all(20 * 20);
  for (const ConvPhase& phase : PhasesOf(s)) weights += PhaseWeights(s, phase, all.data()).size();
  EXPECT_EQ(weights, 20u * 20 + 99 * 20);
}

}  // namespace
}  // namespace mete
