#include "kernels/fast/conv/conv.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

// The output's size for the given bottom and right padding.
ConvShape Sized(ConvShape s, int64_t pad_bottom, int64_t pad_right) {
  s.out_height = (s.in_height + s.pad_top + pad_bottom - s.dilation_y * (s.kernel_height - 1) - 1) / s.stride_y + 1;
  s.out_width = (s.in_width + s.pad_left + pad_right - s.dilation_x * (s.kernel_width - 1) - 1) / s.stride_x + 1;
  return s;
}

struct Sums {
  double sum = 0, magnitude = 1;
};

class Problem {
 public:
  Problem(const ConvShape& shape, FusedOp op, uint32_t seed) : s_(shape) {
    RandomData random(seed);
    in_stride_ = s_.in_pixel_stride ? s_.in_pixel_stride : s_.in_channels;
    out_stride_ = s_.out_pixel_stride ? s_.out_pixel_stride : s_.out_channels;
    input_ = random.Floats(s_.batch * s_.in_height * s_.in_width * in_stride_);
    weights_ = random.Floats(s_.out_channels * (s_.in_channels / s_.groups) * s_.kernel_height * s_.kernel_width);
    bias_ = random.Floats(s_.out_channels);
    residual_ = random.Floats(s_.out_pixels() * out_stride_);
    epilogue_.bias = bias_.data();
    epilogue_.activation = {op, 0.1f, 3};
    if (seed % 2) epilogue_.residual = residual_.data();
    plan_ = PlanConv(s_);
    EXPECT_STREQ(TargetOf(plan_), ActiveTarget());
    packed_.assign(PackedConvBytes(plan_) / sizeof(float), NAN);
    PackConv(plan_, weights_.data(), packed_.data());
    scratch_.resize(ConvScratchBytes(plan_) / sizeof(double) + 1);
  }

  const ConvPlan& plan() const { return plan_; }
  std::vector<float> Blank() const { return std::vector<float>(static_cast<size_t>(s_.out_pixels() * out_stride_), -77.0f); }
  void Run(Range pixels, Range panels, std::vector<float>& out) {
    RunConv(plan_, input_.data(), packed_.data(), epilogue_, pixels, panels, out.data(), scratch_.data());
  }
  std::vector<float> RunWhole() {
    std::vector<float> out = Blank();
    Run({0, s_.out_pixels()}, {0, plan_.panels}, out);
    return out;
  }

  void Check(const std::vector<float>& out) const {
    for (int64_t p = 0; p < s_.out_pixels(); ++p) {
      for (int64_t m = 0; m < out_stride_; ++m) {
        const float got = out[static_cast<size_t>(p * out_stride_ + m)];
        if (m >= s_.out_channels) {
          ASSERT_EQ(got, -77.0f) << "written outside at pixel " << p << " channel " << m;
          continue;
        }
        Sums sums = Sum(p, m);
        if (epilogue_.residual) sums.sum += residual_[p * out_stride_ + m];
        const int64_t k = s_.in_channels / s_.groups * s_.kernel_height * s_.kernel_width;
        ASSERT_NEAR(got, ActivateOracle(epilogue_.activation, sums.sum + bias_[m]), SumTolerance(k + 2, sums.magnitude + 2))
            << "pixel " << p << " channel " << m;
      }
    }
  }

 private:
  Sums Sum(int64_t p, int64_t m) const {
    const int64_t n = p / (s_.out_height * s_.out_width), y = p / s_.out_width % s_.out_height, x = p % s_.out_width;
    const int64_t gc = s_.in_channels / s_.groups, group = m / (s_.out_channels / s_.groups);
    Sums sums;
    for (int64_t ky = 0; ky < s_.kernel_height; ++ky) {
      for (int64_t kx = 0; kx < s_.kernel_width; ++kx) {
        const int64_t iy = y * s_.stride_y - s_.pad_top + ky * s_.dilation_y, ix = x * s_.stride_x - s_.pad_left + kx * s_.dilation_x;
        if (iy < 0 || ix < 0 || iy >= s_.in_height || ix >= s_.in_width) continue;
        const float* from = &input_[((n * s_.in_height + iy) * s_.in_width + ix) * in_stride_ + group * gc];
        for (int64_t c = 0; c < gc; ++c) {
          const double product = double{from[c]} * weights_[((m * gc + c) * s_.kernel_height + ky) * s_.kernel_width + kx];
          sums.sum += product;
          sums.magnitude += std::abs(product);
        }
      }
    }
    return sums;
  }

  ConvShape s_;
  ConvPlan plan_;
  int64_t in_stride_, out_stride_;
  std::vector<float> input_, weights_, bias_, residual_, packed_;
  std::vector<double> scratch_;
  Epilogue epilogue_;
};

std::vector<ConvShape> Shapes() {
  return {
      // batch, in h w c, out (set below), m, kernel, stride, dilation, pad top left, groups
      Sized({1, 5, 7, 3, 1, 1, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
      Sized({2, 17, 16, 3, 1, 1, 33, 7, 7, 2, 2, 1, 1, 3, 3, 1}, 3, 3),
      Sized({1, 9, 9, 20, 1, 1, 37, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
      Sized({1, 8, 11, 70, 1, 1, 16, 1, 1, 2, 2, 1, 1, 0, 0, 1}, 0, 0),
      Sized({2, 6, 6, 40, 1, 1, 65, 1, 1, 1, 1, 1, 1, 0, 0, 1}, 0, 0),
      Sized({1, 10, 10, 5, 1, 1, 6, 3, 3, 1, 1, 2, 2, 2, 2, 1}, 2, 2),
      Sized({1, 10, 9, 12, 1, 1, 18, 3, 3, 1, 2, 1, 1, 1, 1, 3}, 1, 1),
      Sized({1, 12, 12, 6, 1, 1, 12, 5, 2, 3, 1, 1, 3, 0, 1, 2}, 2, 1),
      Sized({1, 1, 30, 4, 1, 1, 9, 1, 5, 1, 2, 1, 1, 0, 2, 1}, 0, 2),
      Sized({1, 2, 2, 1, 1, 1, 1, 5, 5, 1, 1, 1, 1, 4, 4, 1}, 4, 4),
      Sized({1, 4, 4, 600, 1, 1, 10, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
      Sized({1, 3, 3, 8, 1, 1, 8, 1, 1, 1, 1, 1, 1, 1, 1, 8}, 1, 1),
      Sized({1, 7, 6, 10, 1, 1, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1, 13, 19}, 1, 1),
      Sized({1, 7, 6, 10, 1, 1, 14, 1, 1, 1, 1, 1, 1, 0, 0, 1, 13, 19}, 0, 0),
  };
}

TEST(ConvF32, OddShapesMatchTheSumInDouble) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 1;
    for (const ConvShape& shape : Shapes()) {
      SCOPED_TRACE(::testing::Message() << "shape " << seed - 1 << " seed " << seed);
      Problem problem(shape, seed % 3 ? FusedOp::kRelu : FusedOp::kLeakyRelu, seed);
      problem.Check(problem.RunWhole());
      ++seed;
      if (::testing::Test::HasFailure()) return;
    }
  });
}

TEST(ConvF32, RandomShapesMatchTheSumInDouble) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1000; seed < 1040; ++seed) {
      RandomData random(seed);
      const int64_t groups = random.Int(1, 3);
      ConvShape s = {random.Int(1, 2),  random.Int(5, 14), random.Int(5, 14), groups * random.Int(1, 9),
                     1,                 1,                 groups * random.Int(1, 40),
                     random.Int(1, 4),  random.Int(1, 4),  random.Int(1, 3),  random.Int(1, 3), 1, 1, random.Int(0, 3), random.Int(0, 3),
                     groups};
      s = Sized(s, random.Int(0, 3), random.Int(0, 3));
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      Problem problem(s, FusedOp::kClip, seed);
      problem.Check(problem.RunWhole());
      if (::testing::Test::HasFailure()) return;
    }
  });
}

TEST(ConvF32, AnyBlocksStitchedTogetherGiveTheSameBits) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 31;
    for (const ConvShape& shape : Shapes()) {
      Problem problem(shape, FusedOp::kNone, ++seed);
      RandomData random(seed);
      std::vector<float> stitched = problem.Blank();
      for (int64_t p = 0; p < shape.out_pixels();) {
        const int64_t end = std::min(shape.out_pixels(), p + random.Int(1, 40));
        for (int64_t q = 0; q < problem.plan().panels; ++q) problem.Run({p, end}, {q, q + 1}, stitched);
        p = end;
      }
      ASSERT_EQ(stitched, problem.RunWhole()) << "seed " << seed;
    }
  });
}

TEST(ConvF32, PlainOneByOneIsAMatrixProduct) {
  ConvShape s;
  s.in_height = s.out_height = s.in_width = s.out_width = 4;
  EXPECT_TRUE(PlanConv(s).as_gemm);
  s.stride_x = 2;
  EXPECT_FALSE(PlanConv(s).as_gemm);
}

TEST(ConvF32, AFirstLayerReadsWholeKernelRows) {
  ConvShape s;
  s.in_channels = 3;
  s.kernel_height = s.kernel_width = 7;
  const ConvPlan plan = PlanConv(s);
  EXPECT_TRUE(plan.joined);
  EXPECT_EQ(plan.taps, 7);
  EXPECT_EQ(plan.tap_length, 21);
}

}  // namespace
}  // namespace mete
