#include "costs/link_estimate.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete {
namespace {

constexpr NetworkLink kTrue{
    .connect_ms = 100, .round_trip_ms = 40, .up_mbit_per_s = 8, .down_mbit_per_s = 20};
constexpr NetworkLink kPrior{
    .connect_ms = 30, .round_trip_ms = 10, .up_mbit_per_s = 20, .down_mbit_per_s = 20, .late_ratio = 1.5};

ObservedExchange Of(int64_t bytes, Connection connection, double factor = 1) {
  return {bytes, 500, factor * ExchangeMs(kTrue, bytes, 500, connection), connection};
}

TEST(LinkEstimate, IsThePriorBeforeAnyExchange) { EXPECT_EQ(LinkEstimate(kPrior).link(), kPrior); }

TEST(LinkEstimate, FindsRateRoundTripAndConnect) {
  LinkEstimate estimate(kPrior);
  for (const int64_t bytes : {2'000, 15'000, 150'000, 4'000, 90'000, 300'000})
    estimate.Observe(Of(bytes, bytes == 2'000    ? Connection::kCold
                               : bytes == 90'000 ? Connection::kIdle
                                                 : Connection::kWarm));
  EXPECT_NEAR(estimate.link().up_mbit_per_s, 8, 0.1);
  EXPECT_NEAR(estimate.link().round_trip_ms, 40, 1);
  EXPECT_NEAR(estimate.link().connect_ms, 100, 3);
}

// A tenth of the exchanges takes ten times as long, and all of them vary by a tenth.
TEST(LinkEstimate, IsHardlyChangedByOutliers) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> size(2'000, 300'000), noise(0.95, 1.05);
    LinkEstimate estimate(kPrior);
    for (int i = 0; i < 30; ++i)
      estimate.Observe(Of(int64_t(size(random)), Connection::kWarm, i % 10 == 5 ? 10 : noise(random)));
    EXPECT_NEAR(estimate.link().up_mbit_per_s, 8, 0.4);
    for (const int64_t bytes : {15'000, 150'000}) {
      const double ms = ExchangeMs(kTrue, bytes, 500, Connection::kWarm);
      EXPECT_NEAR(ExchangeMs(estimate.link(), bytes, 500, Connection::kWarm), ms, 0.1 * ms);
    }
  }
}

// Exchanges of one size say nothing about the line, but how long exchanges of this size take.
TEST(LinkEstimate, PredictsExchangesOfOneSize) {
  LinkEstimate estimate(kPrior);
  for (int i = 0; i < 5; ++i) estimate.Observe(Of(20'000, Connection::kWarm));
  EXPECT_NEAR(ExchangeMs(estimate.link(), 20'000, 500, Connection::kWarm),
              ExchangeMs(kTrue, 20'000, 500, Connection::kWarm), 1e-6);
}

TEST(LinkEstimate, ForgetsWhatTheLinkWas) {
  LinkEstimate estimate(kPrior);
  for (int i = 0; i < 100; ++i) estimate.Observe({2'000 << (i % 4), 0, 900, Connection::kWarm});
  for (int i = 0; i < 32; ++i) estimate.Observe(Of(2'000 << (i % 4), Connection::kWarm));
  EXPECT_NEAR(estimate.link().round_trip_ms, 40, 1);
  EXPECT_EQ(estimate.observed(), 32);
}

TEST(LinkEstimate, KnowsTheRateWhereAllExchangesSinceSentNothing) {
  LinkEstimate estimate(kPrior);
  for (const int64_t bytes : {15'000, 300'000}) estimate.Observe(Of(bytes, Connection::kIdle));
  for (int i = 0; i < 100; ++i) estimate.Observe(Of(0, Connection::kIdle));
  EXPECT_EQ(estimate.observed(), 32);
  EXPECT_NEAR(estimate.link().up_mbit_per_s, 8, 0.1);
  EXPECT_NEAR(estimate.link().round_trip_ms, 40, 1);
}

// One that was held up is no slow link; two are one.
TEST(LinkEstimate, TheFirstTransferCountsAsMuchAsThePrior) {
  for (const int asks : {1, 2, 3, 40}) {
    LinkEstimate estimate(kPrior);
    for (int i = 0; i < asks; ++i) estimate.Observe(Of(0, Connection::kIdle));
    estimate.Observe(Of(300'000, Connection::kWarm));
    EXPECT_GT(estimate.link().up_mbit_per_s, 8 + 1) << asks;
    EXPECT_LT(estimate.link().up_mbit_per_s, kPrior.up_mbit_per_s - 1) << asks;
    estimate.Observe(Of(200'000, Connection::kWarm));
    EXPECT_NEAR(estimate.link().round_trip_ms, 40, 1) << asks;
    if (asks == 1) continue;  // three exchanges are no line
    EXPECT_NEAR(estimate.link().up_mbit_per_s, 8, 0.1) << asks;
  }
}

// The first request of a device is the smallest picture, whose 200 bytes and a server's unsteady millisecond
// tell nothing of the rate.
TEST(LinkEstimate, ExchangesWithinTheFirstWindowDoNotChangeTheRate) {
  for (const int64_t bytes : {0, 200, 14'000})
    for (const double late_ms : {-1, 0, 1}) {
      LinkEstimate estimate(kPrior);
      for (int i = 0; i < 5; ++i) estimate.Observe(Of(0, Connection::kIdle));
      ObservedExchange small = Of(bytes, Connection::kIdle);
      small.ms += late_ms;
      estimate.Observe(small);
      EXPECT_EQ(estimate.link().up_mbit_per_s, kPrior.up_mbit_per_s);
      EXPECT_NEAR(estimate.link().round_trip_ms, 40, 1);
    }
}

// The round trip of what came before is held for longer than it is.
TEST(LinkEstimate, TransfersThatAreTooShortDoNotMakeTheRateEndless) {
  LinkEstimate estimate(kPrior);
  estimate.Observe({0, 0, 40, Connection::kWarm});
  for (int i = 0; i < 2; ++i) estimate.Observe({20'000, 0, 39, Connection::kWarm});
  EXPECT_NEAR(estimate.link().up_mbit_per_s, 10 * kPrior.up_mbit_per_s, 1e-6);
}

TEST(LinkEstimate, KnowsTheSpread) {
  LinkEstimate estimate(kPrior);
  for (int i = 0; i < 32; ++i)
    estimate.Observe(Of(2'000 << (i % 8), Connection::kWarm, i % 8 == i / 8 ? 3 : 1));
  EXPECT_NEAR(estimate.link().late_ratio, 3, 0.3);
}

TEST(LinkEstimate, RefusesWhatCannotBe) {
  LinkEstimate estimate(kPrior);
  EXPECT_TELLS(estimate.Observe({-1, 0, 5, Connection::kWarm}),
               "[link] no exchange is such; got -1 and 0 bytes");
  EXPECT_TELLS(estimate.Observe({1, 0, NAN, Connection::kWarm}), "in nan ms");
}

}  // namespace
}  // namespace mete
