#include "costs/energy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/errors_testing.h"
#include "costs/costs_testing.h"

namespace mete {
namespace {

constexpr double kExponent = 2.5;

// Adds a power model to a toy machine with clocks of 100 to 1000 MHz. `watts` has for each cluster {watts
// while awake, additional watts of a busy core at 1000 MHz}.
MachineFile Powered(MachineFile file, const std::vector<std::pair<double, double>>& watts) {
  for (size_t c = 0; c < watts.size(); ++c) {
    ClusterFigures& f = file.clusters[c];
    f.min_mhz = {100, "manual"};
    f.idle_w = {watts[c].first, "estimate"};
    f.active_w = {watts[c].second, "estimate"};
    f.power_exponent = {kExponent, "estimate"};
  }
  return file;
}

ModelWork Work(std::vector<NodeWork> nodes) { return {std::move(nodes), 0, 0}; }

const ModelWork kComputes = Work({{4'000'000'000, 1'000'000}});  // 4000 operations per byte
const ModelWork kMoves = Work({{0, 100'000'000}});

// Returns the best clock of a cluster that is compute-bound: joules per operation are proportional to (idle +
// n active x^p) / x, so that the best x is where the derivative is 0.
double BestClock(double idle_w, double active_w, int cores) {
  return std::pow(idle_w / ((kExponent - 1) * cores * active_w), 1 / kExponent);
}

TEST(ChooseEnergy, FindsTheClockWhereThePowerModelHasItsOptimum) {
  for (const auto& [idle, active] :
       std::vector<std::pair<double, double>>{{0.1, 1}, {0.5, 1}, {1, 0.5}, {0, 1}, {5, 1}}) {
    const EnergyCurves curves = CurvesOf(Powered(ToyMachine({{4, 10, 20}}), {{idle, active}}));
    const EnergyChoice choice = ChooseEnergy(curves, kComputes, {});
    const ClusterSetting best = choice.best.clusters[0];
    EXPECT_EQ(best.cores, idle > 0 ? 4 : best.cores);  // more cores share the idle power
    const double ideal = std::clamp(BestClock(idle, active, best.cores), 0.1, 1.0) * 1e6, step = 900e3 / 7;
    EXPECT_NEAR(double(best.khz), ideal, step) << idle << " " << active;
    const double x = double(best.khz) * 1e-6, watts = idle + best.cores * active * std::pow(x, kExponent);
    EXPECT_NEAR(choice.best.ms, 4e9 / (10e9 * best.cores * x) * 1e3, 1e-6);
    EXPECT_NEAR(choice.best.joules, watts * choice.best.ms * 1e-3, 1e-9);
  }
}

TEST(ChooseEnergy, SlowsTheClockDownWhereTheMemoryIsWaitedFor) {
  const EnergyCurves curves = CurvesOf(Powered(ToyMachine({{4, 10, 20}}), {{0.5, 1}}));
  const EnergyChoice choice = ChooseEnergy(curves, kMoves, {});
  EXPECT_EQ(choice.best.clusters[0].cores, 1);
  EXPECT_EQ(choice.best.clusters[0].khz, 100'000);
  EXPECT_NEAR(choice.best.ms, 5, 1e-9);  // the same at every clock
  EXPECT_GT(ChooseEnergy(curves, kComputes, {}).best.clusters[0].khz, 100'000);
}

// One core with 10 GFLOP/s and 1 W at 1000 MHz and no idle power: the slowest clock that meets the time is
// best.
TEST(ChooseEnergy, MeetsATimeWithTheSlowestClockThatDoes) {
  const EnergyCurves curves = CurvesOf(Powered(ToyMachine({{1, 10, 20}}), {{0, 1}}));
  EXPECT_EQ(ChooseEnergy(curves, kComputes, {}).best.clusters[0].khz, 100'000);
  const EnergyChoice choice = ChooseEnergy(curves, kComputes, ParseObjective("latency=600ms", "--objective"));
  EXPECT_EQ(choice.best.clusters[0].khz, 742'857);  // 400 ms at 1000 MHz; 614285 kHz would take 651
  EXPECT_TRUE(choice.meets);
  EXPECT_NE(choice.reason.find("3 of them within 600 ms"), std::string::npos) << choice.reason;
}

TEST(ChooseEnergy, TakesTheFastestWhereNothingMeetsTheTime) {
  const EnergyCurves curves =
      CurvesOf(Powered(ToyMachine({{1, 10, 20}, {2, 4, 10}}), {{0.1, 1}, {0.1, 0.2}}));
  const EnergyChoice choice = ChooseEnergy(curves, kComputes, {10});
  EXPECT_FALSE(choice.meets);
  EXPECT_EQ(choice.best.ms, choice.fastest.ms);
  EXPECT_EQ(ToText(curves, choice.best), "c0 1 core at 1000 MHz + c1 2 cores at 1000 MHz");
  EXPECT_NEAR(choice.best.ms, 4000.0 / 18, 1e-6);
  EXPECT_NE(choice.reason.find("none of"), std::string::npos);
}

TEST(ChooseEnergy, LeavesOutTheClusterThatCostsMoreThanItHelps) {
  const EnergyCurves curves = CurvesOf(Powered(ToyMachine({{1, 10, 20}, {2, 4, 10}}), {{1, 5}, {0.1, 0.2}}));
  const EnergyChoice choice = ChooseEnergy(curves, kComputes, {});
  EXPECT_EQ(choice.best.clusters[0].cores, 0);
  EXPECT_EQ(choice.best.clusters[1].cores, 2);
  ASSERT_EQ(choice.runners_up.size(), 4u);  // every other set of cores once: 1 | 1+1 | 1+2 | 0+1
  for (size_t i = 1; i < choice.runners_up.size(); ++i)
    EXPECT_GE(choice.runners_up[i].joules, choice.runners_up[i - 1].joules);
  EXPECT_GE(choice.runners_up[0].joules, choice.best.joules);
}

TEST(ChooseEnergy, StaysAtTheFrequenciesThatCannotBeChanged) {
  const EnergyCurves curves = CurvesOf(Powered(ToyMachine({{1, 10, 20}, {2, 4, 10}}), {{1, 5}, {0.1, 0.2}}));
  const EnergyChoice choice = ChooseEnergy(curves, kComputes, {}, {.at_khz = {990'000, 500'000}});
  EXPECT_EQ(choice.best.clusters[1].khz, 485'714);
  EXPECT_EQ(choice.fastest.clusters[0].khz, 1'000'000);
  EXPECT_TELLS(ChooseEnergy(curves, kComputes, {}, {.at_khz = {1}}), "got 1, expected 2");
}

TEST(ChooseEnergy, NeverMovesMoreThanTheMemoryDoes) {
  EnergyCurves curves = CurvesOf(Powered(ToyMachine({{1, 10, 20}, {1, 10, 20}}), {{0.1, 1}, {0.1, 1}}));
  curves.gbytes_per_s = 25;
  EXPECT_NEAR(ChooseEnergy(curves, kMoves, {0.001}).best.ms, 4, 1e-9);
  curves.gbytes_per_s = 0;  // unknown
  EXPECT_NEAR(ChooseEnergy(curves, kMoves, {0.001}).best.ms, 2.5, 1e-9);
}

TEST(ChooseEnergy, CountsTheHandOverOfNodesThatAreShared) {
  const EnergyCurves curves = CurvesOf(Powered(ToyMachine({{2, 10, 20}}, 0, 5), {{1, 1}}));
  const ModelWork many{std::vector<NodeWork>(100, {10'000, 10}), 0, 0};  // 1 us per node on one core
  EXPECT_EQ(ChooseEnergy(curves, many, {}).best.clusters[0].cores, 1);
  EXPECT_NEAR(ChooseEnergy(curves, many, {}).fastest.ms, 0.1, 1e-9);
}

// Every clock is a setting, and each setting stores a time and watts for every node.
TEST(ChooseEnergy, RefusesMoreSettingsThanItHasMemoryFor) {
  EnergyCurves curves = CurvesOf(Powered(ToyMachine({{1, 10, 20}}), {{1, 1}}));
  const EnergyPoint point = curves.clusters[0].points[0];
  curves.clusters[0].points.clear();
  for (int i = 1; i <= 100'000; ++i)
    curves.clusters[0].points.push_back({i, 1, 1, point.gflops, point.watts});
  EXPECT_TELLS(ChooseEnergy(curves, kComputes, {}), "too many settings; got 100000, expected 4096 at most");
}

TEST(ChooseEnergy, RefusesTooManyWays) {
  const std::vector<ToyCluster> eight(8, {4, 10, 10});
  const EnergyCurves curves =
      CurvesOf(Powered(ToyMachine(eight), std::vector<std::pair<double, double>>(8, {1, 1})));
  EXPECT_TELLS(ChooseEnergy(curves, kComputes, {}), "too many ways");
  EXPECT_TELLS(ChooseEnergy(curves, {}, {}), "nothing to choose for");
}

TEST(CurvesOf, IsTheMachineFilesRoofline) {
  const EnergyCurves curves = CurvesOf(Powered(ToyMachine({{2, 10, 20}}), {{0.5, 1}}));
  // 5 GFLOP at 20 operations per byte, 250 MB: 20 GFLOP/s take 250 ms, the memory takes 12.5 ms.
  EXPECT_NEAR(ChooseEnergy(curves, Work({{5'000'000'000, 250'000'000}}), {}).fastest.ms, 250, 1e-6);
  // 0.1 operations per byte: the memory takes 2.5 s, more than the arithmetic.
  EXPECT_NEAR(ChooseEnergy(curves, Work({{5'000'000'000, 50'000'000'000}}), {}).fastest.ms, 2500, 1e-6);
  for (const ClusterCurves& c : curves.clusters) EXPECT_EQ(c.points.size(), 8u * 2 * 3);
}

TEST(CurvesOf, TakesEveryBoard) {
  for (const char* board : {"tensor-g4", "core-i9-13900h", "rk3399"}) {
    const MachineFile file = ReadMachineFile(std::string("boards/") + board + ".toml");
    const EnergyCurves curves = CurvesOf(file);
    const std::vector<int> physical = PhysicalCores(file.machine);
    for (size_t c = 0; c < physical.size(); ++c) EXPECT_EQ(int(curves.clusters[c].cores.size()), physical[c]);
    EXPECT_LE(ChooseEnergy(curves, kComputes, {}).best.joules,
              ChooseEnergy(curves, kComputes, {}).fastest.joules);
  }
}

// Three clusters with 17 options each: eight frequencies times two numbers of cores, or to take no part.
EnergyCurves ThreeClusters() {
  return CurvesOf(Powered(ToyMachine({{2, 10, 20}, {2, 5, 10}, {2, 3, 5}}), {{0.5, 1}, {0, 0.3}, {0, 0.1}}));
}

TEST(ChooseEnergy, TellsHowFarItIs) {
  std::vector<int> told;
  const auto tell = [&](int done, int all) {
    EXPECT_EQ(all, 17 * 17 * 17);
    told.push_back(done);
  };
  ChooseEnergy(ThreeClusters(), kComputes, {}, {.progress = tell});
  EXPECT_EQ(told, (std::vector<int>{0, 1024, 2048, 3072, 4096}));
}

TEST(ChooseEnergy, EndsWhereItIsCancelled) {
  CancelToken token;
  int told = 0;
  const auto cancel_later = [&](int done, int) {
    told = done;
    if (done == 1024) token.Cancel();
  };
  try {
    ChooseEnergy(ThreeClusters(), kComputes, {}, {.cancel = &token, .progress = cancel_later});
    FAIL() << "nothing was cancelled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kCancelled);
  }
  EXPECT_EQ(told, 1024);
}

TEST(EnergyCurves, MakesARoundTrip) {
  const EnergyCurves curves =
      CurvesOf(Powered(ToyMachine({{2, 10, 20}, {3, 5, 10}}, 0, 2), {{0.5, 1}, {0, 0.3}}));
  EXPECT_EQ(ToJson(ParseEnergyCurves(ToJson(curves), "x")), ToJson(curves));
}

TEST(EnergyCurves, RefusesWhatMakesNoSense) {
  using Json = nlohmann::json;
  const std::string good = ToJson(CurvesOf(Powered(ToyMachine({{2, 10, 20}}), {{0.5, 1}})));
  const auto refuses = [&](const char* pointer, const Json& value, const char* text) {
    Json j = Json::parse(good);
    j[Json::json_pointer(pointer)] = value;
    EXPECT_TELLS(ParseEnergyCurves(j.dump(), "file.json"), text) << pointer << " " << value;
  };
  for (const char* figure : {"gflops", "watts", "flops_per_byte"})
    for (const Json& bad : {Json(0), Json(-1), Json(1e300), Json(1e-300)})
      refuses((std::string("/clusters/0/points/1/") + figure).c_str(), bad, "c0]");
  refuses("/clusters/0/points/1/cores", 3, "at most 2 cores");
  for (const Json& bad : {Json(-1), Json(1e300), Json(UINT64_MAX), Json("x")}) {
    refuses("/clusters/0/points/1/khz", bad, "file.json] khz");
    refuses("/clusters/0/points/1/cores", bad, "file.json] cores");
    refuses("/clusters/0/cores/1", bad, "file.json] a core");
  }
  for (const Json& bad : {Json(3), Json({{"a", 0}}), Json()}) {
    refuses("/clusters/0/cores", bad, "file.json] cores must be a list");
    refuses("/clusters/0/points", bad, "file.json] points must be a list");
    refuses("/clusters", bad, "file.json] clusters must be a list");
  }
  refuses("/clusters/0/points/1/khz", 200'000, "do not ascend");
  refuses("/clusters/0/points", Json::array(), "got 0, expected 1");
  refuses("/clusters/0/cores", {1, 1}, "none twice");
  refuses("/clusters/0/cores", Json::array(), "at least one");
  refuses("/clusters/0/node_us", -1, "node_us");
  refuses("/clusters", Json::array(), "wrong number of clusters");
  refuses("/idle_watts", -1, "-1 W");
  refuses("/gbytes_per_s", 1e-300, "not believed");
  refuses("/clusters/0/name", "\x1b[2J",
          "file.json] not energy curves; [energy of toy] a text that cannot be printed");
  refuses("/machine", 7, "file.json]");
  refuses("/format", "x", "expected the format");
  for (const char* text : {"", "[", "{}", "null", "[1]"})
    EXPECT_TELLS(ParseEnergyCurves(text, "file.json"), "file.json] not energy curves");
  EXPECT_TELLS(ParseEnergyCurves(std::string(1'000'000, '['), "file.json"),
               "file.json] lists and objects are nested too deep");
}

TEST(Objective, IsEnergyOrATime) {
  EXPECT_EQ(ParseObjective("energy", "f").most_ms, 0);
  EXPECT_EQ(ParseObjective("latency=30ms", "f").most_ms, 30);
  EXPECT_EQ(ParseObjective("latency=1.5s", "f").most_ms, 1500);
  EXPECT_EQ(ParseObjective("latency=500us", "f").most_ms, 0.5);
  for (const char* text :
       {"", "latency", "latency=", "latency=30", "latency=ms", "latency=-1ms", "latency=0ms", "latency=nanms",
        "latency=infs", "latency=1e300s", "latency=30 ms", "power"})
    EXPECT_TELLS(ParseObjective(text, "--objective"), "--objective] not an objective");
}

TEST(WorkOf, CountsWhatMovesBytes) {
  Chain net({1, 8, 8, 16});
  const Graph graph = net.Conv(32, 3).Relu().Flat().Product(10).Done();
  const ModelWork work = WorkOf(graph);
  ASSERT_EQ(work.nodes.size(), 3u);  // a view does nothing
  EXPECT_EQ(work.nodes[0].flops, 2 * 64 * 32 * 9 * 16);
  EXPECT_EQ(work.nodes[1].flops, 0);
  EXPECT_GT(work.nodes[1].bytes, 0);
  EXPECT_EQ(work.int8, 0);
  Chain quantized({1, 8, 8, 16}, DType::kI8);
  EXPECT_EQ(WorkOf(quantized.Conv(32, 3).Done()).int8, 1);
}

}  // namespace
}  // namespace mete
