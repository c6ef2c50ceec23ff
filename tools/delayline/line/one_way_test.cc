#include "tools/delayline/line/one_way.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/errors_testing.h"

namespace mete::delayline {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kFrame = 1000 - kWireBytes;  // 1000 bytes on a wire: 1 ms at 8 Mb/s

TEST(OneWay, AFrameTakesItsBytesByTheRateAndThenTheDelay) {
  OneWay way({.mbit = 8, .delay_ms = 30});
  EXPECT_EQ(way.Take(kFrame, 5 * kMs), 36 * kMs);
  EXPECT_EQ(way.Take(kFrame, 100 * kMs), 131 * kMs);
}

TEST(OneWay, AFrameWaitsForTheOnesBeforeIt) {
  OneWay way({.mbit = 8, .delay_ms = 30});
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(way.Take(kFrame, 0), (30 + i) * kMs);
  EXPECT_EQ(way.Take(kFrame, 5 * kMs + kMs / 2), 36 * kMs + kMs / 2);  // the link was free again for 0.5 ms
}

// A frame of 1514 bytes at 0.13, 5.85 and 18.88 Mb/s: 10 000 of them, without a pause, take what their bytes
// take by the rate to within a microsecond in each second.
TEST(OneWay, RoundedTimesAddUpToTheRate) {
  for (double mbit : {0.13, 1.1, 5.85, 18.88, 100.0, 1000.0}) {
    OneWay way({.mbit = mbit, .queue_bytes = 16 << 20});
    const int64_t frames = 10'000;
    int64_t arrival = 0;
    for (int64_t i = 0; i < frames; ++i) arrival = way.Take(1514, arrival).value();
    const double expected_ns = double(frames) * 1538 * 8e3 / mbit;
    EXPECT_NEAR(double(arrival), expected_ns, expected_ns * 1e-4) << mbit;
  }
}

TEST(OneWay, AFullQueueDropsAndTakesAgainWhenItHasRoom) {
  OneWay way({.mbit = 8, .queue_bytes = 4000});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(way.Take(kFrame, 0)) << i;
  EXPECT_FALSE(way.Take(kFrame, 0));
  EXPECT_FALSE(way.Take(kFrame, kMs - 1));
  EXPECT_EQ(way.Take(kFrame, kMs), 5 * kMs);  // a dropped frame took no time of the link
  EXPECT_FALSE(way.Take(kFrame, kMs));
}

TEST(OneWay, WhatHasLeftTheLinkIsNotInItsQueue) {
  OneWay way({.mbit = 8, .delay_ms = 1000, .queue_bytes = 4000});
  for (int64_t i = 0; i < 500; ++i) EXPECT_EQ(way.Take(kFrame, i * kMs), (i + 1001) * kMs);
}

TEST(OneWay, JitterDelaysWithinItsBoundsAndKeepsTheOrder) {
  OneWay way({.mbit = 1000, .delay_ms = 10, .jitter_ms = 20});
  int64_t last = 0, least = INT64_MAX, most = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    const int64_t sent = i * 40 * kMs, arrival = way.Take(kFrame, sent).value();
    ASSERT_GE(arrival, last);
    last = arrival;
    least = std::min(least, arrival - sent - 8000);
    most = std::max(most, arrival - sent - 8000);
  }
  EXPECT_GE(least, 10 * kMs);
  EXPECT_LT(least, 11 * kMs);
  EXPECT_LE(most, 30 * kMs);
  EXPECT_GT(most, 29 * kMs);
  OneWay crowded({.mbit = 1000, .delay_ms = 10, .jitter_ms = 20});
  last = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    const int64_t arrival = crowded.Take(kFrame, i * 10'000).value();
    ASSERT_GE(arrival, last);
    last = arrival;
  }
}

std::vector<int64_t> Arrivals(uint64_t seed) {
  OneWay way({.jitter_ms = 5}, seed);
  std::vector<int64_t> arrivals;
  for (int64_t i = 0; i < 50; ++i) arrivals.push_back(way.Take(kFrame, i * 10 * kMs).value());
  return arrivals;
}

TEST(OneWay, TheSameSeedGivesTheSameJitter) {
  EXPECT_EQ(Arrivals(3), Arrivals(3));
  EXPECT_NE(Arrivals(3), Arrivals(4));
}

TEST(OneWay, AChangeCountsFromNowAndOvertakesNothing) {
  OneWay way({.mbit = 8, .delay_ms = 30});
  for (int i = 0; i < 10; ++i) way.Take(kFrame, 0);
  way.Change({.mbit = 80, .delay_ms = 1}, 2 * kMs);
  EXPECT_EQ(way.Take(kFrame, 2 * kMs), 40 * kMs);
  EXPECT_EQ(way.Take(kFrame, 50 * kMs), 51 * kMs + kMs / 10);
}

TEST(WaySettings, AreReadWithDefaults) {
  const WaySettings all = WaySettingsFrom(
      Json::parse(R"({"mbit": 5.85, "delay_ms": 30, "jitter_ms": 2, "queue_bytes": 10000})"), "up");
  EXPECT_EQ(all.mbit, 5.85);
  EXPECT_EQ(all.delay_ms, 30);
  EXPECT_EQ(all.jitter_ms, 2);
  EXPECT_EQ(all.queue_bytes, 10000);
  EXPECT_EQ(WaySettingsFrom(Json::object(), "up").mbit, WaySettings{}.mbit);
}

TEST(WaySettings, WhatIsWrongIsNamed) {
  const auto read = [](const char* text) { WaySettingsFrom(Json::parse(text), "up"); };
  EXPECT_TELLS(read("[]"), "[up] a direction");
  EXPECT_TELLS(read(R"({"speed": 1})"), "[up] unknown key; got 'speed'");
  EXPECT_TELLS(read(R"({"mbit": 0})"), "[up] 'mbit' is no number in its range; got 0, expected 0.01 to 1000");
  EXPECT_TELLS(read(R"({"mbit": "5"})"), "got \"5\"");
  EXPECT_TELLS(read(R"({"delay_ms": -1})"), "'delay_ms' is no number in its range; got -1");
  EXPECT_TELLS(read(R"({"jitter_ms": 1e9})"), "'jitter_ms'");
  EXPECT_TELLS(read(R"({"queue_bytes": 100})"), "got 100, expected 3076 to");
  EXPECT_TELLS(read(R"({"mbit": 1000, "delay_ms": 2000})"), "under way; got 250000000");
}

}  // namespace
}  // namespace mete::delayline
