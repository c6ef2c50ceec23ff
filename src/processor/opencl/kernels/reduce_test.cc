#include "processor/opencl/kernels/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/fast/test_util.h"
#include "mete/error.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

using F = ReduceFunction;

// The elements of each output, in the order of the input.
std::vector<std::vector<double>> Groups(const ReduceSpec& spec, const std::vector<float>& x) {
  int64_t outputs = 1;
  for (size_t d = 0; d < spec.sizes.size(); ++d) outputs *= spec.reduced[d] ? 1 : spec.sizes[d];
  std::vector<std::vector<double>> groups(static_cast<size_t>(outputs));
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t rest = int64_t(i), to = 0, step = 1;
    for (size_t d = spec.sizes.size(); d-- > 0; rest /= spec.sizes[d]) {
      if (spec.reduced[d]) continue;
      to += rest % spec.sizes[d] * step;
      step *= spec.sizes[d];
    }
    groups[size_t(to)].push_back(x[i]);
  }
  return groups;
}

struct Expected {
  double value, tolerance;
};

// Returns a reduction in double and the error that f32 may have: a rounding for each element, of the sum of
// magnitudes, and the slope of what is computed of the sum.
Expected InDouble(F function, const std::vector<double>& x) {
  const double most = *std::max_element(x.begin(), x.end()), least = *std::min_element(x.begin(), x.end());
  double sum = 0, magnitude = 0, squares = 0, product = 1, powers = 0;
  for (double v : x) {
    sum += v;
    magnitude += std::abs(v);
    squares += v * v;
    product *= v;
    powers += std::exp(v - most);
  }
  const auto within = [&](double value, double size) {
    return Expected{value, SumTolerance(int64_t(x.size()), size)};
  };
  switch (function) {
    case F::kMean: return within(sum / double(x.size()), magnitude / double(x.size()));
    case F::kSum: return within(sum, magnitude);
    case F::kMax: return {most, 0};
    case F::kMin: return {least, 0};
    case F::kProd: return within(product, std::abs(product));
    case F::kL1: return within(magnitude, magnitude);
    case F::kL2: return within(std::sqrt(squares), std::sqrt(squares));
    case F::kSumSquare: return within(squares, squares);
    case F::kLogSum: return within(std::log(sum), magnitude / sum + std::abs(std::log(sum)));
    case F::kLogSumExp: return within(most + std::log(powers), 1 + std::abs(most) + std::log(powers));
  }
  return {};
}

std::vector<ReduceSpec> Shapes() {
  return {
      {.sizes = {2, 7, 6, 48}, .reduced = {false, true, true, false}},  // an average over images in NHWC
      {.sizes = {2, 45, 7, 7}, .reduced = {false, false, true, true}},  // and in NCHW
      {.sizes = {3, 5, 4, 21}, .reduced = {true, false, true, false}},
      {.sizes = {3, 5, 4, 21}, .reduced = {false, true, false, true}},
      {.sizes = {3, 1, 130}, .reduced = {true, true, true}},
      {.sizes = {4, 3}, .reduced = {false, false}},
      {.sizes = {1, 1}, .reduced = {true, false}},
  };
}

class Reduce : public WithQueue {
 protected:
  void Check(const ReduceSpec& spec, const ReduceTile& tile, double rounding = 0) {
    int64_t count = 1;
    for (int64_t size : spec.sizes) count *= size;
    std::vector<float> x = RandomData(uint32_t(count)).Floats(count, 0.4f);
    const bool positive = spec.function == F::kLogSum || spec.function == F::kProd;
    for (float& v : x) {
      if (positive) v += 1;
      v = F16ToF32(F32ToF16(v));
    }
    const std::vector<std::vector<double>> groups = Groups(spec, x);
    const Buffer from = Make(spec.input, x), to = Blank(int64_t(groups.size() * SizeOf(spec.output)));
    Run(ReduceKernel(spec, tile), {&from, &to});
    const std::vector<float> got = Read(to, spec.output);
    for (size_t i = 0; i < groups.size(); ++i) {
      const Expected e = InDouble(spec.function, groups[i]);
      ASSERT_NEAR(got[i], e.value, e.tolerance + rounding * (std::abs(e.value) + 1)) << "output " << i;
    }
  }
};

TEST_F(Reduce, EachFunctionMatchesDouble) {
  size_t count = 0;
  for (F function = F::kMean; function <= F::kLogSumExp; function = F(int(function) + 1)) {
    for (ReduceSpec spec : Shapes()) {
      spec.function = function;
      for (int lanes : {1, 8}) {
        if (++count % 3) continue;  // all shapes with all tiles, each function with most of them
        Check(spec, {.vector = count % 2 ? 16 : 4, .lanes = lanes});
        if (HasFatalFailure()) FAIL() << "function " << int(function) << " case " << count;
      }
    }
  }
}

TEST_F(Reduce, HalvesAreSummedInF32) {
  ReduceSpec spec{.sizes = {2, 300, 5}, .reduced = {false, true, false}, .input = DType::kF16};
  Check(spec, {.vector = 8, .lanes = 16});
  spec.output = DType::kF16;
  Check(spec, {.vector = 8, .lanes = 1}, 0x1p-11);
}

TEST_F(Reduce, ASumOfExponentialsOfInfinitiesIsTheirMaximum) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-inf, -inf, inf, 1, 2, -inf};
  const Buffer from = Make(DType::kF32, x), to = Blank(12);
  Run(ReduceKernel({.function = F::kLogSumExp, .sizes = {3, 2}, .reduced = {false, true}}, {}), {&from, &to});
  const std::vector<float> y = Read(to, DType::kF32);
  EXPECT_EQ(y[0], -inf);
  EXPECT_EQ(y[1], inf);
  EXPECT_NEAR(y[2], 2, 1e-6);
}

TEST_F(Reduce, IndicesAreThoseOfTheFirstOrLastOfEqualElements) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // [2][5][3]: along the axis in the middle
  const std::vector<float> x = {1, 5, 0, 3, 5, 0, 3, 1, nan, 2, 5, 1, 3, 0, nan,
                                9, 1, 1, 8, 1, 1, 7, 1, 1,   6, 1, 1, 5, 1, 1};
  const auto indices = [&](F function, int lanes, bool last) {
    const Buffer from = Make(DType::kF32, x), to = Blank(48);
    Run(ArgKernel({.function = function, .sizes = {2, 5, 3}, .reduced = {false, true, false}}, lanes, last),
        {&from, &to});
    return ReadAll<int64_t>(to);
  };
  for (int lanes : {1, 4}) {
    SCOPED_TRACE(lanes);
    EXPECT_EQ(indices(F::kMax, lanes, false), (std::vector<int64_t>{1, 0, 2, 0, 0, 0}));
    EXPECT_EQ(indices(F::kMax, lanes, true), (std::vector<int64_t>{4, 3, 4, 0, 4, 4}));
    EXPECT_EQ(indices(F::kMin, lanes, false), (std::vector<int64_t>{0, 4, 2, 4, 0, 0}));
    EXPECT_EQ(indices(F::kMin, lanes, true), (std::vector<int64_t>{0, 4, 4, 4, 4, 4}));
  }
}

TEST(ReduceText, AxesAndLanesThatDoNotFitAreRefused) {
  EXPECT_THROW(ReduceKernel({.sizes = {2, 3}, .reduced = {true}}, {}), Error);
  EXPECT_THROW(ReduceKernel({.sizes = {2, 3}, .reduced = {true, false}}, {.lanes = 3}), Error);
  EXPECT_THROW(ArgKernel({.sizes = {2, 3}, .reduced = {true, false}}, 1, false), Error);
}

}  // namespace
}  // namespace mete::opencl
