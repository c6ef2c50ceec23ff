#include "processor/opencl/kernels/rows.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"
#include "mete/error.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

constexpr float kEpsilon = 1e-5f;

struct Problem {
  RowSpec spec;
  std::vector<float> x, scale, shift;
};

Problem RandomProblem(RowFunction function, int64_t rows, int64_t length, bool affine) {
  RandomData random{uint32_t(length)};
  const bool norm = function == RowFunction::kLayerNorm || function == RowFunction::kRmsNorm;
  return {.spec = {.function = function,
                   .rows = rows,
                   .length = length,
                   .epsilon = kEpsilon,
                   .scale = norm && affine,
                   .shift = norm && affine && function == RowFunction::kLayerNorm},
          .x = random.Floats(rows * length, 4),
          .scale = random.Floats(length),
          .shift = random.Floats(length)};
}

// Returns one row in double.
std::vector<double> InDouble(const Problem& p, int64_t row) {
  const float* x = &p.x[size_t(row * p.spec.length)];
  const int64_t n = p.spec.length;
  std::vector<double> y(x, x + n);
  double top = y[0], sum = 0, squares = 0, powers = 0;
  for (double v : y) top = std::max(top, v), sum += v;
  const double mean = p.spec.function == RowFunction::kLayerNorm ? sum / double(n) : 0;
  for (double v : y) squares += (v - mean) * (v - mean), powers += std::exp(v - top);
  for (int64_t i = 0; i < n; ++i) {
    double& v = y[size_t(i)];
    if (p.spec.function == RowFunction::kSoftmax) v = std::exp(v - top) / powers;
    else if (p.spec.function == RowFunction::kLogSoftmax) v = v - top - std::log(powers);
    else v = (v - mean) / std::sqrt(squares / double(n) + kEpsilon);
    const int64_t at = row % p.spec.affine_rows * (n / p.spec.affine_run) + i / p.spec.affine_run;
    if (p.spec.scale) v *= p.scale[size_t(at)];
    if (p.spec.shift) v += p.shift[size_t(at)];
  }
  return y;
}

class Rows : public WithQueue {
 protected:
  void Check(const Problem& p, int vector, int lanes, double rounding = 0) {
    const Buffer x = Make(p.spec.type, p.x), y = Blank(x.bytes());
    const Buffer scale = Make(DType::kF32, p.scale), shift = Make(DType::kF32, p.shift);
    Run(RowKernel(p.spec, vector, lanes),
        {&x, p.spec.scale ? &scale : nullptr, p.spec.shift ? &shift : nullptr, &y});
    const std::vector<float> got = Read(y, p.spec.type);
    for (int64_t row = 0; row < p.spec.rows; ++row) {
      const std::vector<double> expected = InDouble(p, row);
      // Values lie within 8 of each other, so logarithms and normalised values are below 16; `length`
      // roundings.
      for (int64_t i = 0; i < p.spec.length; ++i)
        ASSERT_NEAR(got[size_t(row * p.spec.length + i)], expected[size_t(i)],
                    SumTolerance(p.spec.length, 16) + rounding * (std::abs(expected[size_t(i)]) + 1))
            << "row " << row << " element " << i;
    }
  }
};

TEST_F(Rows, EachFunctionMatchesDouble) {
  for (RowFunction function :
       {RowFunction::kSoftmax, RowFunction::kLogSoftmax, RowFunction::kLayerNorm, RowFunction::kRmsNorm}) {
    Check(RandomProblem(function, 3, 197, true), 16, 1);
    Check(RandomProblem(function, 3, 197, false), 4, 16);
    Check(RandomProblem(function, 5, 3, true), 16, 1);
    if (HasFatalFailure()) FAIL() << "function " << int(function);
  }
}

TEST_F(Rows, InstancesAndGroupsHaveScalesOfChannels) {
  struct Case {
    int64_t rows, length, affine_rows, affine_run;
  };
  // two images: instances of 5 channels with 12 pixels, 3 groups of 4 channels with 10 pixels
  for (const Case& c : {Case{10, 12, 5, 12}, Case{6, 40, 3, 10}}) {
    Problem p = RandomProblem(RowFunction::kLayerNorm, c.rows, c.length, true);
    p.spec.affine_rows = c.affine_rows;
    p.spec.affine_run = c.affine_run;
    p.scale = RandomData(1).Floats(p.spec.affine());
    p.shift = RandomData(2).Floats(p.spec.affine());
    Check(p, 16, 1);
    Check(p, 4, 4);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Rows, ARowOfHalvesIsSummedInF32) {
  Problem p = RandomProblem(RowFunction::kSoftmax, 2, 1000, false);
  for (float& v : p.x) v = F16ToF32(F32ToF16(v));
  p.spec.type = DType::kF16;
  Check(p, 8, 1, 0x1p-11);
}

TEST_F(Rows, RowsOfHalvesBeginAtAnyMultipleOfTwoBytes) {
  Problem p = RandomProblem(RowFunction::kSoftmax, 4, 37, false);
  for (float& v : p.x) v = F16ToF32(F32ToF16(v));
  p.spec.type = DType::kF16;
  for (int vector : {8, 16}) Check(p, vector, 1, 0x1p-11);
}

TEST_F(Rows, ARowOfOneElement) { Check(RandomProblem(RowFunction::kSoftmax, 4, 1, false), 16, 8); }

TEST(RowText, LanesAreAPowerOfTwo) { EXPECT_THROW(RowKernel({}, 4, 3), Error); }

TEST(RowText, RunsOfScalesDivideARow) {
  EXPECT_THROW(RowKernel({.length = 10, .affine_run = 4}, 4, 1), Error);
}

}  // namespace
}  // namespace mete::opencl
