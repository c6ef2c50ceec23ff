#include <gtest/gtest.h>

#include "base/counting_testing.h"
#include "kernels/reference/number.h"
#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using Floats32 = std::vector<float>;

TEST(MatMul, MatricesAndVectors) {
  const Tensor a = Counting({2, 3}), b = Counting({3, 2}), v = F({3}, {1, 0, -1});
  EXPECT_EQ(RunFor<float>("MatMul", {}, {a, b}), (Floats32{10, 13, 28, 40}));
  EXPECT_EQ(RunFor<float>("MatMul", {}, {a, v}), (Floats32{-2, -2}));
  EXPECT_EQ(RunFor<float>("MatMul", {}, {v, b}), (Floats32{-4, -4}));
  EXPECT_EQ(RunFor<float>("MatMul", {}, {v, v}), (Floats32{2}));
}

TEST(MatMul, BatchesBroadcast) {
  const Tensor a = Counting({2, 1, 1, 2}), b = Counting({3, 2, 1});
  EXPECT_EQ(RunFor<float>("MatMul", {}, {a, b}), (Floats32{1, 3, 5, 3, 13, 23}));
  EXPECT_EQ(RunFor<float>("MatMul", {}, {F({2}, {1, 1}), b}), (Floats32{1, 5, 9}));
}

TEST(MatMul, NoDepthGivesZeros) {
  EXPECT_EQ(RunFor<float>("MatMul", {}, {F({2, 0}, {}), F({0, 1}, {})}), (Floats32{0, 0}));
  EXPECT_TRUE(RunFor<float>("MatMul", {}, {F({0, 2}, {}), F({2, 3}, Floats32(6))}).empty());
}

TEST(MatMul, IntegersWrapAndHalvesRoundOnce) {
  EXPECT_EQ(RunFor<int32_t>("MatMul", {}, {I32({1, 2}, {INT32_MAX, 2}), I32({2, 1}, {1, 1})}),
            (std::vector<int32_t>{INT32_MIN + 1}));
  EXPECT_EQ(RunFor<int64_t>("MatMul", {}, {I64({1, 1}, {INT64_MIN}), I64({1, 1}, {-1})}),
            (std::vector<int64_t>{INT64_MIN}));
  const uint16_t one = F16(1.f).bits, tiny = F16(0x1p-11f).bits;
  EXPECT_EQ(RunFor<uint16_t>("MatMul", {},
                             {MakeTensor<uint16_t>(DType::kF16, {1, 3}, {one, one, one}),
                              MakeTensor<uint16_t>(DType::kF16, {3, 1}, {one, tiny, tiny})})[0],
            F16(1 + 0x1p-10f).bits);
}

TEST(Gemm, ScalesTransposesAndAdds) {
  const Tensor a = Counting({3, 2}), b = Counting({2, 3}), c = F({1, 2}, {1, 2});
  const Attributes all =
      Attrs({{"transA", int64_t(1)}, {"transB", int64_t(1)}, {"alpha", 0.5f}, {"beta", 2.f}});
  // The products without alpha and C are 10 28, 13 40.
  EXPECT_EQ(RunFor<float>("Gemm", all, {a, b, c}), (Floats32{7, 18, 8.5f, 24}));
  EXPECT_EQ(RunFor<float>("Gemm", {}, {Counting({2, 3}), Counting({3, 2}), F({2, 1}, {1, 2})}),
            (Floats32{11, 14, 30, 42}));
  EXPECT_EQ(RunFor<float>("Gemm", {}, {Counting({2, 3}), Counting({3, 2})}), (Floats32{10, 13, 28, 40}));
}

TEST(Gemm, IntegersAreExactWithoutScaling) {
  const int64_t big = (int64_t(1) << 60) + 1;
  EXPECT_EQ(RunFor<int64_t>("Gemm", {}, {I64({1, 1}, {big}), I64({1, 1}, {1}), I64({}, {1})}),
            (std::vector<int64_t>{big + 1}));
  EXPECT_EQ(
      RunFor<int32_t>("Gemm", Attrs({{"alpha", 0.5f}}), {I32({1, 1}, {5}), I32({1, 1}, {1}), I32({1}, {1})}),
      (std::vector<int32_t>{3}));
}

TEST(Products, AddBiasAndResidualBeforeTheActivation) {
  const Attributes fused = Attrs({{"residual", int64_t(1)}, {"activation", std::string("Relu")}});
  const Tensor a = Counting({2, 1, 3}), b = Counting({3, 2}), residual = F({2, 1, 2}, {-12, 0, 0, -50});
  EXPECT_EQ(RunFor<float>("MatMul", fused, {a, b, F({2}, {1, 2}), residual}), (Floats32{0, 15, 29, 0}));
  EXPECT_EQ(RunFor<float>("MatMul", {}, {a, b, F({2}, {1, 2})}), (Floats32{11, 15, 29, 42}));
  const Attributes halved =
      Attrs({{"residual", int64_t(1)}, {"activation", std::string("Relu")}, {"alpha", 0.5f}});
  EXPECT_EQ(RunFor<float>("Gemm", halved, {Counting({2, 3}), b, {}, F({2, 2}, {-6, 0, 0, -50})}),
            (Floats32{0, 6.5f, 14, 0}));
}

Floats32 RunEinsum(const char* equation, const std::vector<Tensor>& inputs) {
  return RunFor<float>("Einsum", Attrs({{"equation", std::string(equation)}}), inputs);
}

TEST(Einsum, MatchesHandComputedValues) {
  const Tensor a = Counting({2, 3}), b = Counting({3, 2});
  EXPECT_EQ(RunEinsum("ij,jk->ik", {a, b}), (Floats32{10, 13, 28, 40}));
  EXPECT_EQ(RunEinsum("ij->ji", {a}), (Floats32{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(RunEinsum("ij->i", {a}), (Floats32{3, 12}));
  EXPECT_EQ(RunEinsum("i,i", {F({3}, {1, 2, 3}), F({3}, {4, 5, 6})}), (Floats32{32}));
  EXPECT_EQ(RunEinsum("...ii->...i", {Counting({2, 2, 2})}), (Floats32{0, 3, 4, 7}));
  EXPECT_EQ(RunEinsum("ii", {Counting({2, 2})}), (Floats32{3}));
  EXPECT_EQ(RunEinsum("i,j,k->", {F({2}, {1, 2}), F({2}, {1, 3}), F({1}, {2})}), (Floats32{24}));
}

TEST(Einsum, EllipsesBroadcast) {
  EXPECT_EQ(RunEinsum("...ij,...jk->...ik", {Counting({2, 1, 1, 2}), Counting({3, 2, 1})}),
            (Floats32{1, 3, 5, 3, 13, 23}));
  EXPECT_EQ(RunEinsum("...,...", {F({2, 1}, {1, 2}), F({2}, {3, 4})}), (Floats32{3, 4, 6, 8}));
}

TEST(Einsum, SumsOverNothingAreZero) {
  EXPECT_EQ(RunEinsum("ij->i", {F({2, 0}, {})}), (Floats32{0, 0}));
  EXPECT_TRUE(RunEinsum("ij->j", {F({2, 0}, {})}).empty());
}

TEST(DetKernel, MatchesHandComputedValues) {
  EXPECT_EQ(RunFor<float>("Det", {}, {F({2, 2}, {0, 2, 3, 4})}), (Floats32{-6}));
  EXPECT_EQ(RunFor<float>("Det", {}, {F({1, 2, 1, 1}, {5, -7})}), (Floats32{5, -7}));
  EXPECT_EQ(RunFor<float>("Det", {}, {F({3, 3}, {1, 2, 3, 4, 5, 6, 2, 4, 6})}), (Floats32{0}));
  EXPECT_EQ(RunFor<float>("Det", {}, {F({2, 0, 0}, {})}), (Floats32{1, 1}));
  EXPECT_TRUE(std::isnan(RunFor<float>("Det", {}, {F({2, 2}, {NAN, 0, 0, 0})})[0]));
  EXPECT_THROW(RunOp("Det", {}, {F({2, 3}, {1, 2, 3, 4, 5, 6})}), Error);
}

// The determinant of Vandermonde's matrix of x_i is the product of x_j - x_i over i < j. Elimination of n
// rows of floats that are exact in f64 rounds n^3 times at most, each by half a unit of the largest
// intermediate value.
TEST(DetKernel, IsThatOfVandermondesMatrix) {
  for (const int n : {1, 2, 5, 8}) {
    std::vector<float> matrix;
    double expected = 1;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        matrix.push_back(float(std::pow(double(i) + 2, double(j))));
        if (j > i) expected *= double(j - i);
      }
    const float got = RunFor<float>("Det", {}, {F({n, n}, matrix)})[0];
    EXPECT_NEAR(double(got), expected, expected * (0x1p-24 + n * n * n * 0x1p-53 * std::pow(n + 1, n - 1)))
        << n;
  }
}

}  // namespace
}  // namespace mete
