#include "machine/run_meters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/clock_testing.h"
#include "machine/trees_testing.h"

namespace mete {
namespace {

constexpr int64_t kMs = 1'000'000;

constexpr const char* kTree = R"(
cpu/online = 0-1
proc/self/status = Cpus_allowed_list: 0-1
cpufreq/policy0/related_cpus = 0 1
cpufreq/policy0/cpuinfo_min_freq = 400000
cpufreq/policy0/cpuinfo_max_freq = 3000000
cpufreq/policy0/scaling_max_freq = 3000000
cpufreq/policy0/scaling_cur_freq = 1200000
sys/class/powercap/intel-rapl:0/name = package-0
sys/class/powercap/intel-rapl:0/energy_uj = 1000000
sys/class/powercap/intel-rapl:0/max_energy_range_uj = 9000000
)";
const std::string kClock = "sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq";
const std::string kEnergy = "sys/class/powercap/intel-rapl:0/energy_uj";

class RunMetersTest : public testing::Test {
 protected:
  RunMeters Open() {
    return {ReadMachine(tree_.root()), tree_.root(), [this] { return now_ns_; }};
  }

  void At(int64_t ms, const std::string& khz, const std::string& microjoules) {
    now_ns_ = ms * kMs;
    tree_.Write(kClock, khz);
    tree_.Write(kEnergy, microjoules);
  }

  static std::string Text(const std::vector<TraceCounter>& counters) {
    std::string text;
    for (const TraceCounter& counter : counters) {
      text += counter.name + " in " + counter.unit + ":";
      for (const TraceCounter::Point& point : counter.points)
        text += " " + std::to_string(point.ns / kMs) + "=" + std::to_string(std::lround(point.value));
      text += "\n";
    }
    return text;
  }

  const RecordedTree tree_{kTree};
  int64_t now_ns_ = 0;
};

TEST_F(RunMetersTest, HasClocksAndThePowerBetweenReadings) {
  RunMeters meters = Open();
  EXPECT_FALSE(meters.empty());
  At(1000, "1200000", "1000000");
  meters.Start();
  At(1010, "2400000", "1300000");  // 0.3 J in 10 ms
  meters.Read();
  At(1030, "3000000", "1400000");
  meters.Read();
  EXPECT_EQ(Text(meters.Counters()),
            "clock of cluster0 in MHz: 0=1200 10=2400 30=3000\npower in W: 0=30 10=5\n");
  meters.Start();  // of another run
  EXPECT_EQ(Text(meters.Counters()), "clock of cluster0 in MHz: 0=3000\n");
}

TEST_F(RunMetersTest, LeavesOutThePowerOfLessThanAnUpdate) {
  RunMeters meters = Open();
  meters.Start();
  now_ns_ += kMs / 2;
  meters.Read();
  EXPECT_EQ(Text(meters.Counters()), "clock of cluster0 in MHz: 0=1200 0=1200\n");
  now_ns_ += kMs;  // from the first reading on it is an update and a half
  meters.Read();
  EXPECT_EQ(meters.Counters().back().points.size(), 1u);
}

TEST_F(RunMetersTest, GoesOnWithoutAFigureThatIsGone) {
  RunMeters meters = Open();
  meters.Start();
  At(10, "no number", "no number either");
  meters.Read();
  EXPECT_EQ(Text(meters.Counters()), "clock of cluster0 in MHz: 0=1200\n");
  EXPECT_NE(meters.why_no_power().find("energy_uj"), std::string::npos) << meters.why_no_power();
}

TEST_F(RunMetersTest, TellsWhyMetersCannotBeRead) {
  tree_.Write(kEnergy, "");
  const RunMeters meters = Open();
  EXPECT_FALSE(meters.why_no_power().empty());
  EXPECT_FALSE(meters.empty()) << "there is a clock";
}

TEST_F(RunMetersTest, ReadsNothingWhereThereIsNothing) {
  const RecordedTree bare("cpu/online = 0-1");
  RunMeters meters(ReadMachine(bare.root()), bare.root(), [] { return 0; });
  EXPECT_TRUE(meters.empty());
  EXPECT_EQ(meters.why_no_power(), "");
  int runs = 0;
  FakeClock clock;
  ReadWhile(meters, clock, [&] { ++runs; });
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(meters.Counters().empty());
}

TEST_F(RunMetersTest, ReadsAtTheStartAtTheEndAndInBetween) {
  FakeClock clock;
  const auto begin = clock.Now();
  RunMeters meters(ReadMachine(tree_.root()), tree_.root(), [&] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(clock.Now() - begin).count();
  });
  const auto interval = std::chrono::nanoseconds(meters.interval_ns());
  ReadWhile(meters, clock,
            [&] { clock.AdvanceUntil(interval, [&] { return clock.Now() >= begin + 3 * interval; }); });
  const std::vector<TraceCounter> counters = meters.Counters();
  ASSERT_FALSE(counters.empty());
  EXPECT_GE(counters[0].points.size(), 4u) << "the start, two in between at least, and the end";
  EXPECT_EQ(counters[0].points.front().ns, 0);
  EXPECT_EQ(counters[0].points.back().ns, 3 * meters.interval_ns());
}

TEST_F(RunMetersTest, EndsWithARunThatFails) {
  RunMeters meters = Open();
  FakeClock clock;
  EXPECT_THROW(ReadWhile(meters, clock, [] { throw std::runtime_error("no"); }), std::runtime_error);
}

}  // namespace
}  // namespace mete
