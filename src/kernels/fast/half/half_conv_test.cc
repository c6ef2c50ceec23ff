#include "kernels/fast/half/half_conv.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "base/half.h"
#include "kernels/fast/conv/conv_oracle.h"

namespace mete {
namespace {

// vdpbf16ps takes denormal numbers for zero: each product may lose at most this.
constexpr double kLeastNormal = 0x1p-126;

using Rounding = float (*)(float);

Rounding RoundingOf(Precision half) {
  if (half == Precision::kF16) return [](float x) { return F16ToF32(F32ToF16(x)); };
  return [](float x) { return BF16ToF32(F32ToBF16(x)); };
}

std::vector<uint16_t> Rounded(const HalfConvPlan& plan, const float* from, size_t count) {
  std::vector<uint16_t> to(count);
  RoundInputs(plan, from, int64_t(count), to.data());
  return to;
}

// The oracle sums products of operands that are halves already, so that the kernel rounds none of them.
class Problem : public ConvProblem {
 public:
  Problem(const ConvShape& shape, FusedOp op, uint32_t seed, Precision half)
      : ConvProblem(shape, op, seed, RoundingOf(half)), plan_(PlanHalfConv(shape, half)) {
    if (RoundsInputs(plan_)) half_ = Rounded(plan_, input(), inputs());
    packed_.assign(PackedHalfConvBytes(plan_) / sizeof(uint16_t), 0x7fc0);  // NaN
    const int64_t k = shape.in_channels / shape.groups * shape.kernel_height * shape.kernel_width;
    PackHalfConv(plan_, {weights(), k, true}, {0, plan_.panels}, packed_.data());
    scratch_.resize(HalfConvScratchBytes(plan_) / sizeof(double) + 1);
  }

  const HalfConvPlan& plan() const { return plan_; }
  void Run(Range pixels, Range panels, std::vector<float>& out) {
    if (RoundsInputs(plan_))
      RunHalfConv(plan_, half_.data(), packed_.data(), epilogue(), pixels, panels, out.data(),
                  scratch_.data());
    else RunHalfConv(plan_, input(), packed_.data(), epilogue(), pixels, panels, out.data(), scratch_.data());
  }
  std::vector<float> RunWhole() {
    std::vector<float> out = Blank();
    Run({0, shape().out_pixels()}, {0, plan_.panels}, out);
    return out;
  }
  void CheckWhole() {
    const ConvShape& s = shape();
    const int64_t k = s.in_channels / s.groups * s.kernel_height * s.kernel_width;
    Check(RunWhole(), [&](int64_t, int64_t, const Sums& sums) {
      return SumTolerance(k + 2, sums.magnitude + 2) + double(k) * kLeastNormal;
    });
  }

 private:
  HalfConvPlan plan_;
  std::vector<uint16_t> half_, packed_;
  std::vector<double> scratch_;
};

void OnEveryTargetAndHalf(const std::function<void(Precision)>& check) {
  OnEveryTargetAndFeature([&] {
    for (const Precision half : {Precision::kBf16, Precision::kF16}) {
      SCOPED_TRACE(Name(half));
      check(half);
      if (::testing::Test::HasFailure()) return;
    }
  });
}

TEST(HalfConv, OddShapesMatchTheSumInDouble) {
  OnEveryTargetAndHalf([](Precision half) {
    uint32_t seed = 1;
    for (const ConvShape& shape : OddConvShapes()) {
      SCOPED_TRACE(::testing::Message() << "shape " << seed - 1 << " seed " << seed);
      Problem(shape, seed % 3 ? FusedOp::kRelu : FusedOp::kGelu, seed, half).CheckWhole();
      ++seed;
      if (::testing::Test::HasFailure()) return;
    }
  });
}

// Panels of every number of vectors with every number of rows, whole and cut.
TEST(HalfConv, EveryTileMatchesTheSumInDouble) {
  OnEveryTargetAndHalf([](Precision half) {
    uint32_t seed = 300;
    for (const int64_t columns : {1, 4, 7, 16, 21, 32, 40, 48, 64})
      for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 17}) {
        SCOPED_TRACE(::testing::Message() << columns << " columns, " << rows << " rows");
        Problem({1, 1, rows, 37, 1, rows, columns}, FusedOp::kNone, seed++, half).CheckWhole();
        if (::testing::Test::HasFailure()) return;
      }
  });
}

TEST(HalfConv, AnyBlocksStitchedTogetherGiveTheSameBits) {
  OnEveryTargetAndHalf([](Precision half) {
    uint32_t seed = 31;
    for (const ConvShape& shape : OddConvShapes()) {
      ++seed;
      Problem problem(shape, kAllActivations[seed % std::size(kAllActivations)], seed, half);
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

// The right operand of a product: columns are neighbours, and Gemm's alpha multiplies them.
TEST(HalfConv, WeightsMayHaveStridesAndAScale) {
  const ConvShape shape{1, 1, 5, 19, 1, 5, 23};
  RandomData random(7);
  const std::vector<float> rows = random.Floats(19 * 23);
  std::vector<float> columns(rows.size());
  for (size_t k = 0; k < 19; ++k)
    for (size_t n = 0; n < 23; ++n) columns[n * 19 + k] = 0.37f * rows[k * 23 + n];
  OnEveryTargetAndHalf([&](Precision half) {
    const HalfConvPlan plan = PlanHalfConv(shape, half);
    const auto pack = [&](const GemmWeights& weights) {
      std::vector<uint16_t> packed(PackedHalfConvBytes(plan) / sizeof(uint16_t));
      PackHalfConv(plan, weights, {0, plan.panels}, packed.data());
      return packed;
    };
    EXPECT_EQ(pack({rows.data(), 23, false, 0.37f}), pack({columns.data(), 19, true}));
  });
}

TEST(HalfConv, WeightsMayBeThoseOfOnePanel) {
  const ConvShape shape{1, 1, 5, 19, 1, 5, 150};
  RandomData random(8);
  const std::vector<float> weights = random.Floats(19 * 150);
  OnEveryTargetAndHalf([&](Precision half) {
    const HalfConvPlan plan = PlanHalfConv(shape, half);
    std::vector<uint16_t> whole(PackedHalfConvBytes(plan) / sizeof(uint16_t)), parts = whole;
    PackHalfConv(plan, {weights.data(), 19, true}, {0, plan.panels}, whole.data());
    for (int64_t p = 0; p < plan.panels; ++p) {
      const int64_t first = PanelChannels(plan, p).begin;
      PackHalfConv(plan, {weights.data() + first * 19, 19, true, 1, first}, {p, p + 1}, parts.data());
    }
    EXPECT_EQ(whole, parts);
  });
}

TEST(HalfConv, RoundingOfInputsFollowsTheReference) {
  OnEveryTarget([](const std::string&) {
    std::vector<float> values;
    for (uint32_t upper = 0; upper < 1 << 16; upper += 7)
      for (const uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
        values.push_back(std::bit_cast<float>(upper << 16 | lower));
    const HalfConvPlan plan = PlanHalfConv({1, 1, 1, 1, 1, 1, 1}, Precision::kBf16);
    const std::vector<uint16_t> rounded = Rounded(plan, values.data(), values.size());
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(rounded[i], F32ToBF16(values[i])) << values[i];
  });
}

// An identity of inputs shows the weights: those that f16 has normal, denormal and zero, and halves between.
TEST(HalfConv, RoundingOfF16WeightsFollowsTheReference) {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 0x477f; upper += 5)
    for (const uint32_t lower : {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0xf000u, 0xffffu})
      for (const uint32_t sign : {0u, 0x80000000u})
        values.push_back(std::bit_cast<float>(sign | upper << 16 | lower));
  values.push_back(kMostF16);
  const int64_t n = int64_t(values.size());
  OnEveryTarget([&](const std::string&) {
    const HalfConvPlan plan = PlanHalfConv({1, 1, 1, 1, 1, 1, n}, Precision::kF16);
    for (const bool transposed : {false, true}) {
      std::vector<uint16_t> packed(PackedHalfConvBytes(plan) / sizeof(uint16_t));
      PackHalfConv(plan, {values.data(), transposed ? 1 : n, transposed}, {0, plan.panels}, packed.data());
      std::vector<double> scratch(HalfConvScratchBytes(plan) / sizeof(double) + 1);
      std::vector<float> out(values.size());
      const float one = 1;
      if (RoundsInputs(plan)) {
        const std::vector<uint16_t> input = Rounded(plan, &one, 1);
        RunHalfConv(plan, input.data(), packed.data(), {}, {0, 1}, {0, plan.panels}, out.data(),
                    scratch.data());
      } else {
        RunHalfConv(plan, &one, packed.data(), {}, {0, 1}, {0, plan.panels}, out.data(), scratch.data());
      }
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(out[i], F16ToF32(F32ToF16(values[i]))) << values[i] << " transposed " << transposed;
    }
  });
}

}  // namespace
}  // namespace mete
