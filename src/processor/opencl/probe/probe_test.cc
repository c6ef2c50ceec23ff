#include "processor/opencl/probe/probe.h"

#include "base/clock_testing.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/probe/probes.h"

namespace mete::opencl {
namespace {

using ProbeOnDevice = WithDevice;

TEST(ProbeTimes, AreTheMedianAndWhatOneInTwentyExceeds) {
  std::vector<int64_t> ns;
  for (int64_t i = 100; i > 0; --i) ns.push_back(i * 1000);
  EXPECT_EQ(TimesOf(ns), (Times{51, 95}));
  EXPECT_EQ(TimesOf({7000}), (Times{7, 7}));
  int calls = 0;
  EXPECT_EQ(Repeat(5, 0, [&] { return int64_t(++calls) * 1000; }), (Times{2, 2}));
  EXPECT_EQ(calls, 3) << "the time was up at once";
}

TEST_F(ProbeOnDevice, ShowsTypesTimesAndMemory) {
  std::vector<std::string> started;
  const ProbeFacts facts =
      Probe(device(), {.budget = std::chrono::minutes(5),
                       .started = [&](const std::string& probe) { started.push_back(probe); }});
  EXPECT_TRUE(facts.computes_f32);
  EXPECT_TRUE(facts.stores_f16);
  EXPECT_EQ(started.front(), "f32");
  EXPECT_EQ(started.size(), 9u);
  for (const Times& times : {facts.launch_drained, facts.launch_asleep, facts.launch_running, facts.small_map,
                             facts.map, facts.host_map, facts.read, facts.host_copy}) {
    EXPECT_GT(times.median_us, 0);
    EXPECT_GE(times.p95_us, times.median_us);
  }
  EXPECT_GT(facts.f32_gflops, 0);
  EXPECT_GT(facts.build_ms, 0);
  EXPECT_EQ(facts.computes_f16, facts.f16_gflops > 0);
  EXPECT_EQ(facts.shares_memory, device().facts().has_fine_svm);
  // Whether a device has halves or not, a problem has the probe's name.
  for (const std::string& problem : facts.problems) EXPECT_NE(problem.find(": "), problem.npos) << problem;
  EXPECT_EQ(facts.problems.size(), facts.computes_f16 ? 0u : 1u);
  EXPECT_FALSE(facts.out_of_time);
}

TEST_F(ProbeOnDevice, StartsNothingWhenItsTimeIsUp) {
  FakeClock clock;
  std::vector<std::string> started;
  const ProbeFacts facts = Probe(
      device(), {.budget = std::chrono::seconds(1), .clock = clock, .started = [&](const std::string& probe) {
                   started.push_back(probe);
                   clock.Advance(std::chrono::seconds(1));
                 }});
  EXPECT_EQ(started, std::vector<std::string>{"f32"});
  EXPECT_TRUE(facts.computes_f32);
  EXPECT_EQ(facts.problems.size(), 8u);
  EXPECT_TRUE(facts.out_of_time);
}

}  // namespace
}  // namespace mete::opencl
