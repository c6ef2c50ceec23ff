// Random operators are tested by the moments of their numbers; a bound is six standard deviations of the
// moment.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

constexpr int64_t kCount = 40000;

Attributes Of(float seed, std::initializer_list<Attributes::Item> others = {}) {
  Attributes a = Attrs(others);
  a.Set("seed", seed);
  return a;
}

Tensor Filled(const Shape& shape, float value) {
  return F(shape, std::vector<float>(size_t(shape.Elements()), value));
}

double Mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += double(v);
  return sum / double(values.size());
}

double Deviation(const std::vector<float>& values) {
  double sum = 0;
  const double mean = Mean(values);
  for (const float v : values) sum += (double(v) - mean) * (double(v) - mean);
  return std::sqrt(sum / double(values.size()));
}

TEST(RandomKernels, UniformNumbersFillTheirRange) {
  const Attributes a = Of(3, {{"low", -1.0f}, {"high", 5.0f}, {"shape", Ints{200, 200}}});
  const auto x = RunFor<float>("RandomUniform", a, {});
  ASSERT_EQ(int64_t(x.size()), kCount);
  for (const float v : x) ASSERT_TRUE(v >= -1 && v <= 5) << v;
  const double deviation = 6 / std::sqrt(12.0);
  EXPECT_NEAR(Mean(x), 2, 6 * deviation / std::sqrt(double(kCount)));
  EXPECT_NEAR(Deviation(x), deviation, 6 * deviation * std::sqrt(0.2 / double(kCount)));
}

TEST(RandomKernels, NormalNumbersHaveMeanAndDeviation) {
  const Attributes a = Of(3, {{"mean", 10.0f}, {"scale", 2.0f}});
  const auto x = RunFor<float>("RandomNormalLike", a, {Filled({kCount}, 0)});
  EXPECT_NEAR(Mean(x), 10, 6 * 2 / std::sqrt(double(kCount)));
  EXPECT_NEAR(Deviation(x), 2, 6 * 2 * std::sqrt(0.5 / double(kCount)));
}

TEST(RandomKernels, EqualSeedsGiveEqualNumbersAndOthersOtherNumbers) {
  const auto of = [](float seed) {
    return RunFor<float>("RandomUniform", Of(seed, {{"shape", Ints{64}}}), {});
  };
  EXPECT_EQ(of(1), of(1));
  EXPECT_NE(of(1), of(2));
}

TEST(RandomKernels, TypesFollowTheInputOrDtype) {
  const Tensor x = F({2, 3}, {0, 1, 0, 1, 0, 1});
  const auto type = [&](const char* op, Attributes a, const Tensor& in) {
    return RunOp(op, a, {in})[0].type();
  };
  EXPECT_EQ(type("RandomNormalLike", Of(1, {{"dtype", std::string("f64")}}), x), DType::kF64);
  EXPECT_EQ(type("RandomUniformLike", Of(1, {{"dtype", std::string("f16")}}), I64({2}, {1, 2})), DType::kF16);
  EXPECT_EQ(type("Bernoulli", Of(1), x), DType::kF32);
  EXPECT_EQ(type("Bernoulli", Of(1, {{"dtype", std::string("bool")}}), x), DType::kBool);
  EXPECT_THROW(type("RandomUniformLike", Of(1), I64({2}, {1, 2})), Error);
  EXPECT_THROW(RunOp("RandomUniform", Of(1), {}), Error);
  EXPECT_THROW(RunOp("RandomUniform", Of(1, {{"shape", Ints{2}}, {"high", INFINITY}}), {}), Error);
}

TEST(RandomKernels, BernoulliChoosesByProbability) {
  for (const float p : {0.0f, 0.25f, 0.9f, 1.0f}) {
    const auto x = RunFor<float>("Bernoulli", Of(7), {Filled({kCount}, p)});
    EXPECT_NEAR(Mean(x), double(p), 6 * std::sqrt(double(p) * (1 - double(p)) / double(kCount)) + 1e-9);
  }
}

TEST(RandomKernels, MultinomialChoosesByProbability) {
  const float none = -INFINITY;
  const Tensor logs = F({2, 3}, {std::log(0.2f), none, std::log(0.8f), 1000, 1000, none});
  const double expected[2][3] = {{0.2, 0, 0.8}, {0.5, 0.5, 0}};
  const Tensor y = RunOp("Multinomial", Of(7, {{"sample_size", kCount}}), {logs})[0];
  ASSERT_EQ(y.shape(), (Shape{2, kCount}));
  ASSERT_EQ(y.type(), DType::kI32);
  for (int64_t row = 0; row < 2; ++row) {
    std::map<int32_t, int64_t> counts;
    for (int64_t i = 0; i < kCount; ++i) ++counts[y.as<int32_t>()[row * kCount + i]];
    for (int32_t k = 0; k < 3; ++k) {
      const double p = expected[row][k];
      EXPECT_NEAR(double(counts[k]) / double(kCount), p, 6 * std::sqrt(p * (1 - p) / double(kCount)))
          << row << k;
    }
  }
  EXPECT_THROW(RunOp("Multinomial", Of(7), {F({1, 2}, {none, none})}), Error);
  EXPECT_THROW(RunOp("Multinomial", Of(7), {F({1, 0}, {})}), Error);
}

}  // namespace
}  // namespace mete
