#include "top/latencies.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mete::top {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Latencies Of(std::vector<double> at_most, double sum_s = 1) {
  return {{0.001, 0.01, 0.1, kInfinity}, std::move(at_most), sum_s};
}

TEST(QuantileTest, IsInterpolatedInItsBucket) {
  EXPECT_DOUBLE_EQ(QuantileOf(Of({0, 10, 10, 10}), 0.5)->s, 0.0055);
  EXPECT_DOUBLE_EQ(QuantileOf(Of({10, 10, 10, 10}), 0.5)->s, 0.0005) << "the first bucket begins at 0";
  EXPECT_DOUBLE_EQ(QuantileOf(Of({0, 0, 100, 100}), 0.99)->s, 0.01 + 0.09 * 0.99);
  EXPECT_DOUBLE_EQ(QuantileOf(Of({0, 5, 10, 10}), 0)->s, 0.001) << "the least is where counts begin";
  EXPECT_DOUBLE_EQ(QuantileOf(Of({0, 5, 10, 10}), 1)->s, 0.1);
}

TEST(QuantileTest, BeyondTheLastBucketIsMore) {
  const auto quantile = QuantileOf(Of({0, 0, 1, 10}), 0.99);
  EXPECT_TRUE(quantile->is_more);
  EXPECT_DOUBLE_EQ(quantile->s, 0.1);
}

TEST(QuantileTest, NothingHasNone) {
  EXPECT_FALSE(QuantileOf(Of({0, 0, 0, 0}), 0.5));
  EXPECT_FALSE(QuantileOf({}, 0.5));
  EXPECT_FALSE(MeanOf(Of({0, 0, 0, 0})));
  EXPECT_DOUBLE_EQ(*MeanOf(Of({0, 0, 4, 4}, 2)), 0.5);
}

TEST(BetweenTest, HasTheTimesOfTheInterval) {
  const auto between = Between(Of({1, 2, 3, 4}, 5), Of({1, 4, 6, 7}, 8));
  EXPECT_EQ(between->at_most, (std::vector<double>{0, 2, 3, 3}));
  EXPECT_EQ(between->sum_s, 3);
}

TEST(BetweenTest, CountersThatBeganAnewHaveNone) {
  EXPECT_FALSE(Between(Of({1, 2, 3, 4}), Of({0, 0, 0, 1})));
  EXPECT_FALSE(Between({{1, kInfinity}, {1, 1}}, Of({1, 2, 3, 4}))) << "other buckets";
}

TEST(BetweenTest, CountsThatWereToldWhileCountingAscend) {
  EXPECT_EQ(Between(Of({1, 3, 3, 3}), Of({2, 3, 4, 4}))->at_most, (std::vector<double>{1, 1, 1, 1}));
}

TEST(IsWholeTest, RefusesWhatNoHistogramIs) {
  const double nan = std::nan("");
  EXPECT_TRUE(IsWhole(Of({0, 1, 2, 3})));
  EXPECT_FALSE(IsWhole({}));
  EXPECT_FALSE(IsWhole(Of({0, 2, 1, 3}))) << "counts descend";
  EXPECT_FALSE(IsWhole(Of({-1, 1, 2, 3})));
  EXPECT_FALSE(IsWhole(Of({0, 1, 2, nan})));
  EXPECT_FALSE(IsWhole(Of({nan, 1, 2, 3})));
  EXPECT_FALSE(IsWhole(Of({0, 1, 2, 3}, nan)));
  EXPECT_FALSE(IsWhole(Of({0, 1, 2, kInfinity})));
  EXPECT_FALSE(IsWhole({{0.1, 0.2}, {1, 2}, 0})) << "no infinite bucket";
  EXPECT_FALSE(IsWhole({{0.2, 0.1, kInfinity}, {1, 2, 3}, 0}));
}

TEST(LatenciesOfTest, QuantilesErrByABucketAtMost) {
  TimeHistogram times;
  for (int i = 1; i <= 1000; ++i) times.Add(i * 1e-3);
  const Latencies latencies = LatenciesOf(times);
  EXPECT_TRUE(IsWhole(latencies));
  EXPECT_EQ(latencies.count(), 1000);
  EXPECT_NEAR(QuantileOf(latencies, 0.5)->s, 0.5, 0.5 * 0.02);
  EXPECT_NEAR(QuantileOf(latencies, 0.99)->s, 0.99, 0.99 * 0.12);
}

}  // namespace
}  // namespace mete::top
