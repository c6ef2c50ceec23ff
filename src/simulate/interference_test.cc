#include "simulate/interference.h"

#include <gtest/gtest.h>

#include "mete/error.h"

namespace mete {
namespace {

using Kind = Interference::Kind;

std::vector<Interference> Parse(const std::string& text) {
  std::vector<Interference> list;
  ParseInterference(text, "flag", list);
  Verify(list);
  return list;
}

std::string ErrorOf(const std::string& text) {
  try {
    Parse(text);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Interference, TextsAreRead) {
  EXPECT_TRUE(Parse("none").empty());
  const Interference steady = Parse("steady:cores=4-5,7,share=0.3")[0];
  EXPECT_EQ(steady.kind, Kind::kSteady);
  EXPECT_EQ(steady.cores, (std::vector<int>{4, 5, 7}));
  EXPECT_EQ(steady.share, 0.3);
  EXPECT_EQ(Parse("periodic:cores=1,share=0.5,period_ms=2.5")[0].period_ns, 2'500'000);
  EXPECT_EQ(Parse("random:cores=1,seed=7")[0].seed, 7u);
}

TEST(Interference, OtherTextsAreRefused) {
  for (const char* text :
       {"", "magic", "steady", "steady:", "steady:share=0.5", "steady:cores=x",
        "steady:cores=1,share=", "steady:1", "steady:cores=1,share=0.5x", "steady:cores=1,period_ms=2",
        "steady:cores=1,,share=0.5", "none:cores=1", "periodic:cores=1,seed=2",
        "periodic:cores=1,period_ms=nan", "periodic:cores=1,period_ms=1e300", "random:cores=1,seed=-2"})
    EXPECT_NE(ErrorOf(text).find("[flag] not an interference"), std::string::npos) << text;
  EXPECT_NE(ErrorOf("steady:cores=1,share=1").find("expected above 0 and at most 0.9"), std::string::npos);
  EXPECT_NE(ErrorOf("steady:cores=1,share=nan").find("a share of time"), std::string::npos);
  EXPECT_NE(ErrorOf("periodic:cores=1,period_ms=0.001").find("a period is out of bounds"), std::string::npos);
  std::vector<Interference> twice = Parse("steady:cores=1");
  ParseInterference("random:cores=0-1", "flag", twice);
  EXPECT_THROW(Verify(twice), Error);
}

TEST(Interference, OthersCoresAreUndisturbed) {
  CoreTime time(Parse("steady:cores=1,share=0.5"), 2);
  EXPECT_EQ(time.Finish(10, 100), 110);
  EXPECT_EQ(LostShare(Parse("steady:cores=1,share=0.5"), 2), 0);
  EXPECT_EQ(LostShare(Parse("steady:cores=1,share=0.5"), 1), 0.5);
}

TEST(Interference, SteadyStretches) {
  CoreTime time(Parse("steady:cores=1,share=0.75"), 1);
  EXPECT_EQ(time.Finish(10, 100), 410);
}

// Lost: [0, 300), [1000, 1300), ... in microseconds.
TEST(Interference, PeriodicTakesTheBeginningOfEveryPeriod) {
  const auto finish = [](int64_t start_us, double work_us) {
    return CoreTime(Parse("periodic:cores=1,share=0.3,period_ms=1"), 1)
               .Finish(start_us * 1000, work_us * 1e3) /
           1000;
  };
  EXPECT_EQ(finish(0, 0), 300);
  EXPECT_EQ(finish(500, 0), 500);
  EXPECT_EQ(finish(100, 700), 1000);
  EXPECT_EQ(finish(500, 500), 1000);
  EXPECT_EQ(finish(500, 501), 1301);
  EXPECT_EQ(finish(500, 500 + 700), 2000);
  EXPECT_EQ(finish(500, 500 + 700 + 1), 2301);
  EXPECT_EQ(finish(999, 7001), 11000);
}

TEST(Interference, RandomTakesItsShareAndNeverGoesBack) {
  CoreTime time(Parse("random:cores=1,share=0.6,period_ms=1,seed=3"), 1);
  int64_t now = 0;
  const int pieces = 100'000;
  for (int i = 0; i < pieces; ++i) {
    const int64_t next = time.Finish(now, 50'000);
    ASSERT_GE(next, now + 50'000);
    now = next;
  }
  // 12,500 periods of 1 ms, so that the share is within some per cent of what was asked for; the sequence is
  // fixed.
  EXPECT_NEAR(1 - pieces * 50e3 / double(now), 0.6, 0.02);
}

}  // namespace
}  // namespace mete
