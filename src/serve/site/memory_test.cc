#include "serve/site/memory.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "passes/graphs_testing.h"
#include "plan/site/plan_site.h"

namespace mete::serve {
namespace {

const NetworkLink kLan{1, 0.5, 900, 900};

SiteMemory Seen() {
  SiteMemory memory;
  LearnLoad(memory.device, StartState::kKilled, {}, 40);
  memory.device.start[size_t(StartState::kResident)].Learn(0);
  memory.device.compute.Learn(30);
  memory.device.least_load.Learn(15);
  memory.server.ready.Learn(4);
  memory.server.stream.Learn(2);
  memory.device.photo[0].decode.Learn({8, 1, 10});
  memory.device.photo[0].scale.Learn({8, 1, 2});
  memory.device.small.Learn(0.5);
  memory.server.compute.Learn(5);
  memory.server.small.Learn(1);
  memory.scaled_bytes = 150000;
  Learn(memory, {100, 200, 0.6, Connection::kIdle});
  return memory;
}

TEST(SiteMemory, IsTheSameAsJson) {
  SiteMemory memory = Seen();
  const SiteMemory read = SiteMemoryFromJson(ToJson(memory), "memory");
  EXPECT_EQ(read.device, memory.device);
  EXPECT_EQ(read.server, memory.server);
  EXPECT_EQ(read.scaled_bytes, memory.scaled_bytes);
  ASSERT_EQ(read.exchanges.size(), 1u);
  EXPECT_EQ(read.exchanges[0].connection, Connection::kIdle);
  EXPECT_EQ(read.exchanges[0].ms, 0.6);
}

TEST(SiteMemory, OfOtherTextsIsAnError) {
  EXPECT_TELLS(SiteMemoryFromJson("{", "memory"), "[memory]");
  EXPECT_TELLS(SiteMemoryFromJson("{\"version\": 1}", "memory"), "[memory]");
  std::string wrong = ToJson(Seen());
  wrong.replace(wrong.find("40"), 2, "-4");
  EXPECT_TELLS(SiteMemoryFromJson(wrong, "memory"), "'load_ms' is no such figure");
  std::string state = ToJson(Seen());
  state.replace(state.find("killed"), 6, "asleep");
  EXPECT_TELLS(SiteMemoryFromJson(state, "memory"), "'asleep'");
}

TEST(SiteMemory, ForgetsTheOldestExchanges) {
  SiteMemory memory;
  for (int i = 0; i < 100; ++i) Learn(memory, {i, 0, 1, Connection::kIdle});
  EXPECT_EQ(memory.exchanges.size(), 32u);
  EXPECT_EQ(memory.exchanges.back().up_bytes, 99);
}

TEST(SiteMemory, LearnsTheLink) {
  SiteMemory memory;
  EXPECT_EQ(LinkOf(kLan, memory), kLan);
  for (int i = 0; i < 4; ++i) Learn(memory, {100 + i * 100000, 100, 20.0 + i * 100, Connection::kWarm});
  EXPECT_NEAR(LinkOf(kLan, memory).up_mbit_per_s, 8, 0.1);  // 100 kB in 100 ms
}

TEST(SiteMemory, DividesASidesTimeByWhatIsKnownOfItsLayers) {
  Builder b;
  ValueId x = b.Input({1, 3, 8, 8});
  for (const int64_t channels : {3, 30}) x = b.Conv(x, 3, channels, 3, {1, 1, 1, 1});
  b.Output(x);
  InferShapes(b.graph);
  SiteMemory memory = Seen();
  SiteNow now{.server_answers = true, .state = StartState::kResident, .program = StartState::kResident};
  SiteCosts costs = CostsOf(b.graph, memory, kLan, now);
  const auto layer_ms = [&](size_t p, size_t l) { return costs.pool.processors[p].layers[l].us * 1e-3; };
  EXPECT_NEAR(layer_ms(0, 0) + layer_ms(0, 1), 30, 1e-9);
  EXPECT_GT(layer_ms(0, 1), 5 * layer_ms(0, 0));  // ten times the arithmetic
  EXPECT_EQ(costs.load(), LoadCost{});
  EXPECT_EQ(costs.cut.load, (LoadCost{40, 15}));  // the whole model's session is of no use to a part
  EXPECT_EQ(costs.cut.ready_ms, 4);
  EXPECT_EQ(costs.cut.stream_ms, 2);
  now.ready_cut = {true, false};
  costs = CostsOf(b.graph, memory, kLan, now, SiteLayers{{{100, 0}, {200, 0}}, {{300, 0}, {100, 0}}});
  EXPECT_EQ(costs.cut.load, (LoadCost{40, 15}));  // of each other division
  EXPECT_EQ(costs.cut.ready, now.ready_cut);
  EXPECT_NEAR(layer_ms(0, 0), 10, 1e-9);
  EXPECT_NEAR(layer_ms(0, 1), 20, 1e-9);
  EXPECT_NEAR(layer_ms(1, 0), 3.75, 1e-9);
  EXPECT_NEAR(layer_ms(1, 1), 1.25, 1e-9);
}

TEST(SiteMemory, HasTheTimesOfAPoolAndOfItsHome) {
  Builder b;
  b.Output(b.Conv(b.Input({1, 3, 8, 8}), 3, 4, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  SiteMemory memory = Seen();
  const SiteNow now{.state = StartState::kResident, .program = StartState::kResident};
  EXPECT_FALSE(CostsOf(b.graph, memory, kLan, now).device_ms);
  memory.device.home.Learn(70);
  memory.device.plan = "layers 1 to 2 on cpu:0";
  const SiteCosts costs = CostsOf(b.graph, memory, kLan, now);
  EXPECT_EQ(costs.device_ms, 30);
  EXPECT_NEAR(costs.pool.processors[0].layers[0].us, 70e3, 1e-6);
  EXPECT_NEAR(PlanSite(b.graph, costs).ways[0].steps.compute_ms, 30, 1e-9);
  EXPECT_EQ(costs.cut.load, (LoadCost{15, 15}));
  EXPECT_EQ(SiteMemoryFromJson(ToJson(memory), "memory").device, memory.device);
}

// All that was seen is a load with timings and without weights, and what a part adds was measured.
TEST(SiteMemory, HasALoadByWhatIsKeptNow) {
  Builder b;
  b.Output(b.Conv(b.Input({1, 3, 8, 8}), 3, 4, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  SiteMemory memory = Seen();
  memory.device.load = {};
  EXPECT_FALSE(HasLoad(memory.device));
  LearnLoad(memory.device, StartState::kKilled, ParseMissing("weights", "test"), 90);
  LearnLoad(memory.device, StartState::kEvicted, ParseMissing("weights", "test"), 7);
  EXPECT_TRUE(HasLoad(memory.device));
  memory.device.files = {std::nullopt, std::vector<std::string>{"tuning/a.json"}, std::vector<std::string>{}};
  EXPECT_EQ(SiteMemoryFromJson(ToJson(memory), "memory").device, memory.device);

  SiteNow now{.state = StartState::kKilled, .part_ms = {50, 12, {}}};
  const auto plan = [&](const char* missing) {
    now.missing = ParseMissing(missing, "test");
    now.why_missing[size_t(KeptPart::kTimings)] = "a.json is not there";
    return PlanSite(b.graph, CostsOf(b.graph, memory, kLan, now)).ways[0];
  };
  EXPECT_NEAR(plan("weights").steps.load_ms, 90, 1e-9);
  EXPECT_NEAR(plan("none").steps.load_ms, 90 - 50, 1e-9);
  EXPECT_TRUE(plan("none").load_terms.empty());
  const SiteWay timings = plan("timings");
  EXPECT_NEAR(timings.steps.load_ms, 90 - 50 + 12, 1e-9);
  EXPECT_EQ(timings.load_terms,
            (std::vector<LoadTerm>{{KeptPart::kTimings, true, 12, "a.json is not there"}}));
  EXPECT_EQ(plan("programs").load_terms, (std::vector<LoadTerm>{{KeptPart::kPrograms, true, {}}}));
  now.state = StartState::kEvicted;  // its session needs nothing of it
  EXPECT_NEAR(plan("weights+timings").steps.load_ms, 7, 1e-9);
  EXPECT_TRUE(plan("weights+timings").load_terms.empty());
  now.state = StartState::kCold;  // never seen: as the longest one that was
  EXPECT_NEAR(plan("weights+timings").steps.load_ms, 90 + 12, 1e-9);
}

TEST(SiteMemory, BecomesThePlanOfASite) {
  Builder b;
  b.Output(b.Conv(b.Input({1, 3, 8, 8}), 3, 4, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  SiteNow now{.server_answers = true, .server_wait_ms = 7, .file_bytes = 1000000, .pixels = 8e6};
  const auto plan = [&] {
    return PlanSite(b.graph, CostsOf(b.graph, Seen(), kLan, now), {.no_cuts = "none"});
  };
  SitePlan all = plan();
  EXPECT_NEAR(all.ways[0].steps.total_ms(), 40 + 12 + 30, 1e-9);
  EXPECT_NEAR(all.ways[1].steps.preprocess_ms, 12, 1e-9);  // as the device's
  EXPECT_NEAR(all.ways[1].steps.compute_ms, 5 + 7, 1e-9);
  EXPECT_NEAR(all.ways[2].steps.preprocess_ms, 10 + 2 + 0.5 + 1, 1e-9);
  EXPECT_FALSE(all.ways[3].can());
  EXPECT_NE(all.choice, SiteCandidate::kDevice);
  const double raw_ms = all.ways[1].steps.total_ms();
  now.state = now.program = StartState::kCold;  // never seen: as the longest one that was
  now.start_ms[size_t(now.state)] = 25;
  now.process_ms[size_t(now.state)] = 10;
  now.ask_ms = 3;
  EXPECT_NEAR(plan().ways[0].steps.load_ms, 40 + 25, 1e-9);
  EXPECT_NEAR(plan().ways[1].steps.total_ms(), raw_ms + 25 + 3, 1e-9);
  EXPECT_NEAR(plan().ways[0].steps.upload_ms, 0, 1e-9);
  std::swap(now.ask_ms, now.asked_ms);
  EXPECT_NEAR(plan().ways[1].steps.total_ms(), raw_ms + 25 + 3, 1e-9);
  EXPECT_NEAR(plan().ways[0].steps.upload_ms, 3, 1e-9);
  now.asked_ms = 0;
  SiteMemory seen = Seen();
  seen.device.start[size_t(now.state)].Learn(9);  // of the program's own
  seen.device.photo[size_t(now.state)].decode.Learn({8, 1, 15});
  const SiteSteps started = PlanSite(b.graph, CostsOf(b.graph, seen, kLan, now)).ways[0].steps;
  EXPECT_NEAR(started.load_ms, 40 + 10 + 9, 1e-9);
  EXPECT_NEAR(started.preprocess_ms, 15 + 2, 1e-9);
  now.program = StartState::kResident;  // it has answered before, by a way that needs no session
  const SiteSteps later = PlanSite(b.graph, CostsOf(b.graph, seen, kLan, now)).ways[0].steps;
  EXPECT_NEAR(later.load_ms, 40, 1e-9);
  EXPECT_NEAR(later.preprocess_ms, 10 + 2, 1e-9);
  now.state = StartState::kResident;
  EXPECT_NEAR(plan().ways[0].steps.total_ms(), 12 + 30, 1e-9);
  now.server_answers = false;
  EXPECT_EQ(plan().choice, SiteCandidate::kDevice);
  EXPECT_TELLS(CostsOf(b.graph, {}, kLan, now), "the device's times are not known");
}

// The device takes 42 ms of its own for a photo, the server's answer at most as long.
TEST(SiteMemory, TheLeastEnergyIsThatOfTheDevicesPower) {
  Builder b;
  b.Output(b.Conv(b.Input({1, 3, 8, 8}), 3, 4, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  SiteNow now{.server_answers = true, .state = StartState::kResident, .program = StartState::kResident};
  now.file_bytes = 1'000'000;
  now.pixels = 8e6;
  const auto plan = [&](const PowerCosts& power) {
    now.power = power;
    return PlanSite(b.graph, CostsOf(b.graph, Seen(), kLan, now), {.of = PoolObjective::kEnergy});
  };
  EXPECT_EQ(plan({.idle_w = 0.1, .compute_w = 5}).choice, SiteCandidate::kRawPhoto);
  EXPECT_EQ(plan({.idle_w = 0.1, .compute_w = 5, .sent_joules_per_byte = 1e-3}).choice,
            SiteCandidate::kDevice);
  const SiteWay device = plan({.idle_w = 2, .compute_w = 5}).ways[0];
  EXPECT_NEAR(*device.joules, (2 + 5) * device.steps.total_ms() * 1e-3, 1e-9);
}

}  // namespace
}  // namespace mete::serve
