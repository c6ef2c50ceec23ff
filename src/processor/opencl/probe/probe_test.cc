#include "processor/opencl/probe/probe.h"

#include "base/clock_testing.h"
#include "processor/opencl/api/device_testing.h"

namespace mete::opencl {
namespace {

using ProbeOnDevice = WithDevice;

TEST_F(ProbeOnDevice, ShowsTypesTimesAndMemory) {
  std::vector<std::string> started;
  const ProbeFacts facts =
      Probe(device(), {.budget = std::chrono::minutes(5),
                       .started = [&](const std::string& probe) { started.push_back(probe); }});
  EXPECT_TRUE(facts.computes_f32);
  EXPECT_TRUE(facts.stores_f16);
  EXPECT_EQ(started.front(), "f32");
  EXPECT_EQ(started.size(), 9u);
  for (double figure :
       {facts.f32_gflops, facts.launch_drained_us, facts.launch_running_us, facts.small_map_us, facts.map_us,
        facts.host_map_us, facts.read_us, facts.host_copy_us, facts.build_ms})
    EXPECT_GT(figure, 0);
  EXPECT_EQ(facts.computes_f16, facts.f16_gflops > 0);
  EXPECT_EQ(facts.shares_memory, device().facts().has_fine_svm);
  // Whether a device has halves or not, a problem has the probe's name.
  for (const std::string& problem : facts.problems) EXPECT_NE(problem.find(": "), problem.npos) << problem;
  EXPECT_EQ(facts.problems.size(), facts.computes_f16 ? 0u : 1u);
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
}

}  // namespace
}  // namespace mete::opencl
