#include "simulate/pool/simulate_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/errors_testing.h"
#include "machine/board_processors.h"
#include "partition/random_graphs_testing.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/named.h"
#include "plan/pool/plan_for.h"
#include "plan/pool/segments.h"
#include "simulate/pool/estimate_pool.h"
#include "passes/chains_testing.h"

namespace mete {
namespace {

// Two convolutions over rows of 16, on two processors alike that are 1000 us away from each other for 1 KB.
struct TwoProcessors {
  TwoProcessors() {
    x = b.Input({1, 1, 16, 16});  // 1024 bytes
    y = b.Output(b.Conv(b.Conv(x, 1, 1, 3, {1, 1, 1, 1}), 1, 1, 3, {1, 1, 1, 1})).outputs[0];
    InferShapes(b.graph);
    for (const char* name : {"a", "b"})
      pool.processors.push_back({name, {0, 0, 8.192, 8.192}, {{100, 0}, {300, 0}}});
  }
  Builder b;
  ValueId x, y;
  PoolCosts pool;
};

// `worker`: all processors but the first share the memory of one.
PoolCosts RandomPool(RandomGraph& random, int processors, bool worker) {
  PoolCosts pool;
  for (int d = 0; d < processors; ++d) {
    ProcessorCosts processor{
        std::string(1, char('a' + d)), {double(random.Pick(0, 20)), double(random.Pick(0, 10)), 0, 0}, {}};
    processor.link.up_mbit_per_s = double(random.Pick(50, 4000));
    processor.link.down_mbit_per_s = double(random.Pick(50, 4000));
    for (size_t l = 0; l < LayersOf(random.graph).size(); ++l)
      processor.layers.push_back({double(random.Pick(1, 300)), 0});
    if (worker && d > 0)
      processor.memory =
          MemoryLink{"worker", {double(random.Pick(0, 2)), 1, 1e4, double(random.Pick(4000, 40000))}};
    pool.processors.push_back(std::move(processor));
  }
  return pool;
}

TEST(SimulatePool, OneDeviceTakesItsLayers) {
  TwoProcessors t;
  const PoolSimulation s = SimulatePool(t.b.graph, PlanAlone(t.b.graph, t.pool, 0), t.pool);
  EXPECT_DOUBLE_EQ(s.us, 400);
  EXPECT_DOUBLE_EQ(s.processors[0].busy_us, 400);
  EXPECT_EQ(s.processors[1].messages, 0);
}

TEST(SimulatePool, AnotherDeviceGetsInputsAndSendsOutputs) {
  TwoProcessors t;
  const PoolSimulation s = SimulatePool(t.b.graph, PlanAlone(t.b.graph, t.pool, 1), t.pool);
  EXPECT_DOUBLE_EQ(s.us, 1000 + 400 + 1000);
  EXPECT_EQ(s.processors[1].received_bytes, 1024);
  EXPECT_EQ(s.processors[0].received_bytes, 1024);
}

// The second layer is on another processor of the worker, a tenth of the network's time away.
TEST(SimulatePool, ProcessorsOfOneWorkerHandOverInItsMemory) {
  TwoProcessors t;
  t.pool.processors.push_back(t.pool.processors[1]);
  t.pool.processors[2].name = "c";
  for (size_t p : {1, 2}) t.pool.processors[p].memory = MemoryLink{"worker", {0, 0, 81.92, 81.92}};
  PoolModel model(t.b.graph, t.pool);
  const Plan plan = PlanOf(model, {{0, 1, WholeOn(1)}, {1, 2, WholeOn(2)}});
  EXPECT_DOUBLE_EQ(plan.predicted_us, 1000 + 100 + 100 + 300 + 1000);
  const PoolSimulation simulation = SimulatePool(t.b.graph, plan, t.pool);
  EXPECT_DOUBLE_EQ(simulation.us, plan.predicted_us);
  Plan named = plan;
  named.processors = NamesOf(t.pool);
  for (size_t l = 0; l < 2; ++l) named.layers.push_back("layer");
  std::string lanes;
  const nlohmann::json trace = nlohmann::json::parse(ChromeJson(simulation, named, t.pool));
  for (const auto& e : trace.at("traceEvents"))
    if (e.at("name") == "thread_name" && std::string(e.at("args").at("name")).ends_with(" in memory"))
      lanes += fmt::format("{}: {}\n", int(e.at("pid")), std::string(e.at("args").at("name")));
  EXPECT_EQ(lanes, "2: sends in memory\n2: receives in memory\n3: sends in memory\n3: receives in memory\n");
}

TEST(SimulatePool, NobodyWaitsForWhatOthersDo) {
  TwoProcessors t;
  for (LayerCost& layer : t.pool.processors[1].layers) layer.us *= 0.5;
  t.pool.processors[0].link = t.pool.processors[1].link = {0, 0, 8192, 8192};
  const Placement halves{SplitAxis::kRows, {0, 1}, {0.5, 0.5}};
  const Plan plan = PlanPool(t.b.graph, t.pool, {WholeOn(0), halves});
  ASSERT_EQ(plan.groups.back().shares.size(), 2u);
  EXPECT_LE(SimulatePool(t.b.graph, plan, t.pool).us, plan.predicted_us);
}

TEST(SimulatePool, IsNotMuchLongerThanPredictedOnRandomGraphs) {
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 8);
    const PoolCosts pool = RandomPool(random, 3, seed > 60);
    const Plan plan = PlanPool(random.graph, pool);
    double busy_us = 0;
    for (const PlannedGroup& group : plan.groups)
      for (const Share& share : group.shares) busy_us += share.compute_us;
    const PoolSimulation s = SimulatePool(random.graph, plan, pool);
    double simulated_us = 0;
    for (const SimulatedProcessor& processor : s.processors) simulated_us += processor.busy_us;
    EXPECT_NEAR(simulated_us, busy_us, 1e-6 * busy_us);
    // A message that still leaves delays the next one; a plan knows nothing of it.
    EXPECT_LE(s.us, plan.predicted_us * 1.1);
  }
}

// The busiest resource has that much to do for each request, and is free only while it waits for the first
// one and when the last one has gone on: for no longer than a request alone takes.
TEST(SimulatePool, RequestsInARowTakeAPeriodEach) {
  constexpr int kRequests = 60;
  for (uint32_t seed = 1; seed <= 160; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 8);
    const PoolCosts pool = RandomPool(random, 3, seed > 80);
    for (const auto objective : {PoolObjective::kLatency, PoolObjective::kThroughput}) {
      const Plan plan = PlanPoolFor(objective, random.graph, pool);
      const PoolSimulation s = SimulatePool(random.graph, plan, pool, kRequests);
      EXPECT_GE(s.period_us(), plan.period_us * 0.999999);
      EXPECT_LE(s.period_us(), plan.period_us + 2 * plan.predicted_us / kRequests);
    }
  }
}

TEST(SimulatePool, TheTraceHasThePowerOfProcessorsWithWatts) {
  TwoProcessors t;
  t.pool.processors[1].power = PowerCosts{1, 4, 0, 0};
  const Plan plan = PlanAlone(t.b.graph, t.pool, 1);
  const PoolSimulation simulation = SimulatePool(t.b.graph, plan, t.pool);
  const auto json = nlohmann::json::parse(ChromeJson(simulation, plan, t.pool));
  std::vector<std::pair<double, double>> power;  // us, watts
  for (const auto& e : json.at("traceEvents")) {
    if (e.at("ph") != "C") continue;
    EXPECT_EQ(e.at("pid"), 2) << "the other one has no watts";
    power.emplace_back(e.at("ts"), e.at("args").at("W"));
  }
  ASSERT_EQ(power.size(), 3u);
  EXPECT_EQ(power[0], std::pair(0.0, 1.0));
  EXPECT_EQ(power[1].second, 5);
  EXPECT_EQ(power[2].second, 1);
  EXPECT_NEAR(power[2].first - power[1].first, simulation.processors[1].busy_us, 1e-6);
}

// The caller sends the input, the other processor computes and sends the output: two messages, and one wait
// for the first.
TEST(SimulatePool, TheTraceHasLanesForEachDeviceAndArrowsAlongMessages) {
  TwoProcessors t;
  const Plan plan = PlanAlone(t.b.graph, t.pool, 1);
  const auto json = nlohmann::json::parse(ChromeJson(SimulatePool(t.b.graph, plan, t.pool), plan, t.pool));
  std::vector<std::string> slices, arrows;
  std::map<std::pair<int, int>, std::string> lanes;
  for (const auto& e : json.at("traceEvents")) {
    if (e.at("name") == "thread_name") lanes[{e.at("pid"), e.at("tid")}] = e.at("args").at("name");
    const auto place = [&] {
      return std::to_string(int(e.at("pid"))) + " " + lanes.at({e.at("pid"), e.at("tid")});
    };
    if (e.at("ph") == "X") slices.push_back(place());
    if (e.at("ph") == "s") arrows.push_back(place());
    if (e.at("ph") == "f") arrows.back() += " -> " + place();
  }
  EXPECT_EQ(lanes.size(), 6u);
  std::sort(slices.begin(), slices.end());
  EXPECT_EQ(slices,
            (std::vector<std::string>{"1 receives", "1 sends", "2 computes", "2 receives", "2 sends"}));
  std::sort(arrows.begin(), arrows.end());
  EXPECT_EQ(arrows, (std::vector<std::string>{"1 sends -> 2 receives", "2 receives -> 2 computes",
                                              "2 sends -> 1 receives"}));
}

// 300 us on the first processor, then 100 us on the second; of two requests the second one's first part is
// computed while the second processor computes.
TEST(SimulatePool, RequestsSlowEachOtherWhileTheyUseOneMemory) {
  TwoProcessors t;
  for (ProcessorCosts& processor : t.pool.processors) {
    processor.layers = {{300, 0}, {100, 0}};
    processor.link = {0, 0, 1e12, 1e12};
  }
  PoolModel model(t.b.graph, t.pool);
  const Plan plan = PlanOf(model, {{0, 1, WholeOn(0)}, {1, 2, WholeOn(1)}});
  EXPECT_NEAR(SimulatePool(t.b.graph, plan, t.pool, 2).us, 300 + 300 + 100, 0.01);
  t.pool.processors[0].co_run = CoRun{"chip", 2};
  t.pool.processors[1].co_run = CoRun{"chip", 1.5};
  EXPECT_NEAR(SimulatePool(t.b.graph, plan, t.pool).us, 400, 0.01);  // one request has only one at a time
  // The second processor takes 150 us, in which the first does 75 us of its work, and 225 us remain.
  const PoolSimulation s = SimulatePool(t.b.graph, plan, t.pool, 2);
  EXPECT_NEAR(s.us, 300 + 150 + 225 + 100, 0.01);
  EXPECT_NEAR(s.processors[0].busy_us, 300 + 150 + 225, 0.01);
  EXPECT_NEAR(s.processors[1].busy_us, 150 + 100, 0.01);
  double last_us = 0;
  for (const SimulatedSpan& span : s.spans) last_us = std::max(last_us, span.end_us);
  EXPECT_NEAR(last_us, s.us, 0.01);
}

// One processor is three times as fast as the other, so it gets three of four requests.
TEST(SimulatePool, RequestsInTurnUseAllProcessors) {
  TwoProcessors t;
  t.pool.processors[1].layers = {{300, 0}, {900, 0}};
  for (ProcessorCosts& processor : t.pool.processors) processor.link = {0, 0, 1e12, 1e12};
  const InTurn turns = PlanInTurn(t.b.graph, t.pool);
  EXPECT_NEAR(turns.period_us, 300, 0.01);
  const PoolSimulation s = SimulatePool(t.b.graph, turns.plans, t.pool, 400);
  EXPECT_NEAR(s.period_us(), 300, 3);
  EXPECT_NEAR(s.processors[0].busy_us, 300 * 400, 3 * 400);
  EXPECT_NEAR(s.processors[1].busy_us, 100 * 1200, 3 * 1200);
  for (ProcessorCosts& processor : t.pool.processors) processor.co_run = CoRun{"chip", 1.25};
  EXPECT_NEAR(PlanInTurn(t.b.graph, t.pool).period_us, 375, 0.01);
  const PoolSimulation slowed = SimulatePool(t.b.graph, PlanInTurn(t.b.graph, t.pool).plans, t.pool, 400);
  EXPECT_NEAR(slowed.period_us(), 375, 4);
}

TEST(EstimatePool, HasEveryLayerOfEveryDevice) {
  Builder b;
  const ValueId x = b.Input({1, 8, 32, 32});
  b.Output(b.Op("Flatten", {b.Op("GlobalAveragePool", {b.Op("Relu", {b.Conv(x, 8, 16, 3)})})}));
  InferShapes(b.graph);
  const PoolCosts pool = EstimatePool(b.graph, ReadPoolFile("boards/rk3399x6.toml", {}));
  Verify(pool, LayersOf(b.graph).size());
  ASSERT_EQ(pool.processors.size(), 6u);
  EXPECT_GT(pool.processors[0].layers[0].us, 0);
  EXPECT_DOUBLE_EQ(pool.processors[0].power->idle_w, 0.06 + 0.03);
  EXPECT_DOUBLE_EQ(pool.processors[0].power->compute_w, 2 * 0.9 + 4 * 0.2);
  EXPECT_EQ(pool.processors[5].layers[0].us, pool.processors[0].layers[0].us);
  // A pool over all rows has one row: half of its channels takes less time than all.
  EXPECT_LT(pool.processors[0].layers[1].least_us, pool.processors[0].layers[1].us);
}

TEST(EstimatePool, ABoardsGpuSharesItsMemory) {
  Builder b;
  const ValueId x = b.Input({1, 64, 64, 64});
  b.Output(b.Conv(b.Conv(x, 64, 64, 3, {1, 1, 1, 1}), 64, 64, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  const PoolFile board = PoolOfBoard("boards/snapdragon-855.toml", "cpu,gpu");
  const PoolCosts pool = EstimatePool(b.graph, board);
  Verify(pool, LayersOf(b.graph).size());
  ASSERT_EQ(pool.processors.size(), 2u);
  const ProcessorCosts &cpu = pool.processors[0], &gpu = pool.processors[1];
  const GpuFigures& figures = board.machines[0].gpus[0].figures;
  EXPECT_EQ(gpu.co_run, (CoRun{"board", figures.gpu_slowed.value}));
  EXPECT_EQ(cpu.co_run, (CoRun{"board", figures.cpu_slowed.value}));
  EXPECT_DOUBLE_EQ(gpu.share_us + figures.launch_us.value, figures.drained_launch_us.value);
  // a hand-over of a mebibyte: mapping, waiting, waking
  EXPECT_NEAR(
      AloneReadyUs({0, 1, 1 << 20}, pool),
      figures.map_us.value + figures.map_us_per_mib.value + figures.wait_us.value + figures.wake_us.value,
      0.1);
  EXPECT_DOUBLE_EQ(gpu.power->compute_w, figures.active_w.value);
  // Both are of the same order here, so that both have a part, and a part of it is what they do to each
  // other.
  const Plan plan = PlanPool(b.graph, pool);
  EXPECT_EQ(UsedProcessors(plan).size(), 2u);
  PoolCosts apart = pool;
  for (ProcessorCosts& processor : apart.processors) processor.co_run.reset();
  EXPECT_LT(PredictedWith(apart, b.graph, plan).predicted_us, plan.predicted_us);
  const PoolCosts halves = EstimatePool(b.graph, PoolOfBoard("boards/snapdragon-855.toml", "cpu,gpu:f16"));
  EXPECT_LT(halves.processors[1].layers[0].us, gpu.layers[0].us);
  EXPECT_EQ(halves.processors[0].layers, cpu.layers);
}

// A layer that pays for the conversion of its input to halves and one that does not, as a board's GPU is
// estimated.
TEST(EstimatePool, ABoardsGpuComputesInBothTypesInTurn) {
  const Graph graph = ChainOfConvolutions({1, 64, 64, 64}, 3);
  const PoolCosts pool = EstimatePool(graph, PoolOfBoard("boards/snapdragon-855.toml", "cpu,gpu,gpu:f16"));
  Verify(pool, LayersOf(graph).size());
  EXPECT_EQ(pool.processors[1].unit, "board/gpu:0");
  EXPECT_EQ(pool.processors[2].unit, "board/gpu:0");
  EXPECT_TRUE(pool.processors[0].unit.empty());
  PoolCosts lacks = pool;  // f16 lacks the layer in the middle
  lacks.processors[2].layers[1] = {.why_not = "no kernel"};
  for (const PoolCosts& costs : {pool, lacks}) {
    const Plan plan = PlanPool(graph, costs);
    const std::vector<std::string> names = NamesOf(costs);
    CheckUnits(plan, {"", "board/gpu:0", "board/gpu:0"});
    EXPECT_TRUE(UsedProcessors(plan).contains(2)) << ToText(plan, graph);
    EXPECT_NEAR(SimulatePool(graph, plan, costs).us, plan.predicted_us, 0.1 * plan.predicted_us);
    // Never later than with either type alone.
    for (const char* list : {"cpu,gpu", "cpu,gpu:f16"}) {
      PoolCosts one = EstimatePool(graph, PoolOfBoard("boards/snapdragon-855.toml", list));
      one.processors[1].layers = costs.processors[names[1] == one.processors[1].name ? 1 : 2].layers;
      EXPECT_LE(plan.predicted_us, PlanPool(graph, one).predicted_us * 1.001) << list;
    }
  }
}

// Two requests at a time: what is the same hardware computes one of them at a time.
TEST(SimulatePool, ProcessorsOfTheSameHardwareComputeInTurn) {
  Builder b;
  b.Output(b.Conv(b.Conv(b.Input({1, 1, 16, 16}), 1, 1, 3, {1, 1, 1, 1}), 1, 1, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  const LinkCosts link{0, 0, 1e6, 1e6};
  PoolCosts pool{{{"cpu", link, {{1000, 0}, {1000, 0}}},
                  {"gpu", link, {{100, 0}, {100, 0}}},
                  {"gpu:f16", link, {{100, 0}, {100, 0}}}}};
  PoolModel model(b.graph, pool);
  Plan plan = PlanOf(model, {{0, 1, WholeOn(1)}, {1, 2, WholeOn(2)}});
  NamePlan(plan, b.graph, NamesOf(pool), "mine");
  const double apart_us = SimulatePool(b.graph, plan, pool, 10).us;
  pool.processors[1].unit = pool.processors[2].unit = "here/gpu:0";
  const double one_us = SimulatePool(b.graph, plan, pool, 10).us;
  EXPECT_NEAR(apart_us, 11 * 100, 20);
  EXPECT_NEAR(one_us, 20 * 100, 20);
}

}  // namespace
}  // namespace mete
