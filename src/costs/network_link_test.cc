#include "costs/network_link.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete {
namespace {

// The delay line of site.md: 30 ms each way and 5.85 Mbit/s.
NetworkLink DelayLine() { return {.round_trip_ms = 60, .up_mbit_per_s = 5.85, .down_mbit_per_s = 5.85}; }

TEST(ExchangeMs, IsWithinThreePercentOfMeasuredTransfers) {
  struct Measured {
    int64_t bytes;
    Connection connection;
    double ms;
  };
  for (const auto& [bytes, connection, ms] : {Measured{15'000, Connection::kIdle, 124},
                                              {15'000, Connection::kWarm, 82},
                                              {150'000, Connection::kIdle, 333},
                                              {150'000, Connection::kWarm, 270}})
    EXPECT_NEAR(ExchangeMs(DelayLine(), bytes, 0, connection), ms, 0.03 * ms) << bytes;
}

// DADS's figures count bytes / rate alone: 150 kB over its 4G take 205 ms.
TEST(ExchangeMs, OfDadsLinksIsBytesOverRate) {
  const NetworkLink link = FindNamedLink("dads-4g", "link").link();
  for (const Connection connection : {Connection::kWarm, Connection::kIdle, Connection::kCold})
    EXPECT_NEAR(ExchangeMs(link, 150'000, 0, connection), 205.1, 0.1);
}

TEST(ExchangeMs, AddsConnectingToACold) {
  NetworkLink link = DelayLine();
  link.connect_ms = 120;
  EXPECT_DOUBLE_EQ(ExchangeMs(link, 15'000, 400, Connection::kCold),
                   ExchangeMs(link, 15'000, 400, Connection::kIdle) + 120);
}

TEST(PartsOfExchange, AreItsTime) {
  NetworkLink link = DelayLine();
  link.connect_ms = 120;
  const ExchangeParts parts = PartsOfExchange(link, 15'000, 400, Connection::kCold);
  EXPECT_EQ(parts.connect_ms, 120);
  EXPECT_EQ(parts.round_trip_ms, 60);
  EXPECT_NEAR(parts.bytes_ms, 15'400 * 8 / 5850.0, 1e-9);
  EXPECT_NEAR(parts.slow_start_ms, 60 + 1460 * 8 / 5850.0 - 14'600 * 8 / 5850.0, 1e-9);
  EXPECT_EQ(parts.ms(), ExchangeMs(link, 15'000, 400, Connection::kCold));
}

// A window of 1000 bytes at 1 byte/us lasts 1 ms. Behind it the sender waits for the rest of the 10 ms, and
// of the segment's 1.46 ms.
TEST(SlowStartMs, WaitsBehindEachWindowThatIsShorterThanARoundTrip) {
  const NetworkLink link{.round_trip_ms = 10, .first_window_bytes = 1000};
  EXPECT_EQ(SlowStartMs(link, 8, 1000), 0);
  EXPECT_NEAR(SlowStartMs(link, 8, 1001), 10.46, 1e-9);
  EXPECT_NEAR(SlowStartMs(link, 8, 3001), 10.46 + 9.46, 1e-9);
  EXPECT_NEAR(SlowStartMs(link, 8, 1'000'000), 10.46 + 9.46 + 7.46 + 3.46, 1e-9);
}

TEST(SlowStartMs, IsNothingWithoutARoundTripOrAWindow) {
  EXPECT_EQ(SlowStartMs({.round_trip_ms = 0}, 8, 1'000'000), 0);
  EXPECT_EQ(SlowStartMs({.round_trip_ms = 10, .first_window_bytes = 0}, 8, 1'000'000), 0);
}

TEST(PoolLinkOf, SendsDownFromItsEnd) {
  const LinkCosts link = PoolLinkOf({.round_trip_ms = 60, .up_mbit_per_s = 5, .down_mbit_per_s = 20});
  EXPECT_EQ(link, (LinkCosts{30'000, 0, 20, 5}));
}

TEST(NamedLinks, AreLinksAndNameTheirSources) {
  for (const NamedLink& profile : NamedLinks()) {
    Verify(profile.link(), profile.name);
    for (const Figure& figure : {profile.connect_ms, profile.round_trip_ms, profile.up_mbit_per_s,
                                 profile.down_mbit_per_s, profile.late_ratio})
      EXPECT_FALSE(figure.source.empty()) << profile.name;
  }
  EXPECT_TELLS(FindNamedLink("5g", "link"),
               "[link] is no link; got '5g', expected one of: 3g, lte, wifi, lan");
}

TEST(NetworkLinkFromJson, IsTheSameLink) {
  const NetworkLink link = FindNamedLink("lte", "link").link();
  EXPECT_EQ(NetworkLinkFromJson(ToJson(link), "f"), link);
}

TEST(NetworkLinkFromJson, RefusesWhatIsNoLink) {
  const std::string good = ToJson(DelayLine());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_TELLS(NetworkLinkFromJson("{", "f"), "[f] no link: ");
  EXPECT_TELLS(NetworkLinkFromJson("[]", "f"), "[f] the link");
  EXPECT_TELLS(NetworkLinkFromJson(with("link 1", "link 2"), "f"), "expected 'mete link 1'");
  EXPECT_TELLS(NetworkLinkFromJson(with("60.0", "\"slow\""), "f"), "[f] no link: ");
  EXPECT_TELLS(NetworkLinkFromJson(with("60.0", "-60.0"), "f"), "[f] round_trip_ms is no time; got -60");
  EXPECT_TELLS(NetworkLinkFromJson(with("late_ratio", "late"), "f"), "'late_ratio' not found");
  EXPECT_TELLS(NetworkLinkFromJson(std::string(5000, ' '), "f"), "too large; got 5000 bytes");
}

TEST(VerifyLink, ListsAllProblems) {
  for (const char* problem :
       {"[uplink] connect_ms", "round_trip_ms", "rate; got 0", "window", "ratio of 0.5"})
    EXPECT_TELLS(Verify(NetworkLink{-1, NAN, 0, 1, -1, 0.5}, "uplink"), problem);
}

}  // namespace
}  // namespace mete
