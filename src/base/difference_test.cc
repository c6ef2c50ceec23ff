#include "base/difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace mete {
namespace {

Tensor Of(std::vector<float> values) {
  Tensor t(DType::kF32, {int64_t(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_view().as<float>());
  return t;
}

double Between(const Tensor& a, const Tensor& b) {
  return LargestDifference(std::vector<Tensor>{a}, std::vector<Tensor>{b});
}

TEST(LargestDifference, IsAShareOfTheLargestValueOfItsTensor) {
  EXPECT_DOUBLE_EQ(Between(Of({1, 2}), Of({1, -4})), 1.5);
  const std::vector<Tensor> a{Of({1, 100}), Of({0.5f})}, b{Of({1, 101}), Of({1})};
  EXPECT_DOUBLE_EQ(LargestDifference(a, b), 0.5) << "that of the second tensor";
  EXPECT_EQ(Between(Of({3, 0}), Of({3, 0})), 0);
}

TEST(LargestDifference, OfZerosIsTheDifferenceItself) {
  EXPECT_DOUBLE_EQ(Between(Of({0.25f}), Of({0})), 0.25);
}

TEST(LargestDifference, IsInfiniteWhereNothingCanBeCompared) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isinf(Between(Of({1}), Of({1, 2}))));
  EXPECT_TRUE(std::isinf(Between(Of({nan}), Of({1}))));
  EXPECT_TRUE(std::isinf(Between(Of({inf}), Of({1}))));
  EXPECT_TRUE(std::isinf(LargestDifference(std::vector<Tensor>{Of({1})}, {})));
  EXPECT_EQ(Between(Of({nan, 1}), Of({nan, 1})), 0) << "both are NaN";
}

}  // namespace
}  // namespace mete
