#include "processor/opencl/kernels/matvec.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"
#include "mete/error.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

class MatVec : public WithQueue {
 protected:
  void Check(const MatVecSpec& s, const MatVecTile& tile) {
    RandomData random(uint32_t(s.n + s.k));
    std::vector<float> x = random.Floats(s.batch * s.rows * s.k), w = random.Floats(s.batch * s.n * s.k),
                       bias = random.Floats(s.n), residual = random.Floats(s.batch * s.rows * s.n);
    for (std::vector<float>* values : {&x, &w, &residual})
      for (float& v : *values) v = F16ToF32(F32ToF16(v));
    const Buffer input = Make(s.input, x), weights = Make(s.weights, w), b = Make(DType::kF32, bias),
                 r = Make(s.output, residual), y = Blank(int64_t(residual.size() * SizeOf(s.output)));
    Run(MatVecKernel(s, tile), {&input, &weights, s.bias ? &b : nullptr, s.residual ? &r : nullptr, &y});
    const std::vector<float> got = Read(y, s.output);
    for (int64_t at = 0; at < int64_t(got.size()); ++at) {
      const int64_t n = at % s.n, row = at / s.n, image = row / s.rows;
      double sum = 0, magnitude = 2;  // of bias and residual
      for (int64_t k = 0; k < s.k; ++k) {
        const double product =
            double{x[size_t(row * s.k + k)]} *
            w[size_t(s.rows_of_n ? (image * s.n + n) * s.k + k : (image * s.k + k) * s.n + n)];
        sum += s.scale * product;
        magnitude += std::abs(s.scale * product);
      }
      if (s.bias) sum += bias[size_t(n)];
      if (s.residual) sum += residual[size_t(at)];
      const double rounding = s.output == DType::kF16 ? 0x1p-11 * magnitude : 0;
      ASSERT_NEAR(got[size_t(at)], ActivateOracle(s.activation, sum),
                  SumTolerance(s.k + 2, magnitude) + rounding)
          << "element " << at;
    }
  }
};

TEST_F(MatVec, SumsAlongKMatchDouble) {
  Check(
      {.n = 70, .k = 517, .rows_of_n = true, .activation = {FusedOp::kRelu}, .bias = true, .residual = true},
      {.vector = 16, .outputs = 4});
  Check({.rows = 3, .n = 9, .k = 100, .rows_of_n = true, .scale = 0.5f},
        {.vector = 4, .outputs = 2, .lanes = 8});
  Check({.batch = 2, .rows = 2, .n = 5, .k = 33, .rows_of_n = true, .bias = true},
        {.vector = 8, .outputs = 8});
  Check({.n = 3, .k = 2, .rows_of_n = true}, {.vector = 16, .outputs = 4, .lanes = 16});
}

TEST_F(MatVec, SumsAcrossKMatchDouble) {
  Check({.n = 133, .k = 70, .activation = {FusedOp::kSigmoid}, .bias = true, .residual = true},
        {.vector = 16, .outputs = 4});
  Check({.rows = 3, .n = 50, .k = 100, .scale = 0.5f}, {.vector = 4, .outputs = 1, .lanes = 8, .columns = 8});
  Check({.batch = 3, .rows = 1, .n = 40, .k = 31, .bias = true}, {.vector = 8, .outputs = 2, .lanes = 4});
  Check({.n = 3, .k = 2}, {.vector = 16, .outputs = 4, .lanes = 16, .columns = 4});
}

TEST_F(MatVec, HalvesInMemoryAreSummedInF32) {
  for (bool rows_of_n : {true, false}) {
    MatVecSpec s{.rows = 2, .n = 40, .k = 90, .rows_of_n = rows_of_n, .weights = DType::kF16, .bias = true};
    Check(s, {.vector = 16, .outputs = 2});
    s.input = s.output = DType::kF16;
    s.residual = true;
    Check(s, {.vector = 4, .outputs = 1, .lanes = 4});
  }
}

TEST_F(MatVec, TheChosenTilesMatchDouble) {
  for (const TileDevice& device : {TileDevice{true, 16}, TileDevice{true, 8}, TileDevice{false, 4}})
    for (bool rows_of_n : {true, false})
      for (int64_t rows : {1, device.is_cpu ? 8 : 2}) {
        const MatVecSpec s{.rows = rows, .n = 300, .k = 210, .rows_of_n = rows_of_n};
        Check(s, ChooseMatVecTile(s, device));
      }
}

TEST(MatVecText, ManyRowsAndOddLanesAreRefused) {
  EXPECT_THROW(MatVecKernel({.rows = 9}, {}), Error);
  EXPECT_THROW(MatVecKernel({}, {.lanes = 3}), Error);
}

}  // namespace
}  // namespace mete::opencl
