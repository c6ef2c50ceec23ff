#include "simulate/simulated.h"

#include <gtest/gtest.h>

#include "costs/costs_testing.h"
#include "mete/error.h"
#include "plan/cores/cores.h"
#include "simulate/subsets.h"
#include "schedule/policy.h"

namespace mete {
namespace {

Simulation SimulationOf(const Graph& graph, const MachineFile& file, const std::vector<int>& cores,
                        const SimulationOptions& options) {
  return SimulateModel(graph, file, EstimateCosts(graph, file, cores), options);
}

struct Network {
  const char* name;
  Graph graph;
};

std::vector<Network> LargeNetworks() {
  std::vector<Network> networks;
  networks.push_back({"vgg16", Vgg16()});
  networks.push_back({"resnet50", ResNet50()});
  networks.push_back({"vit_b16", VitB16()});
  return networks;
}

// 4+4, 1+3+4 and 2+4 cores.
std::vector<MachineFile> UnevenMachines() {
  std::vector<MachineFile> machines;
  for (const std::string board : {"exynos-5422", "tensor-g4", "rk3399"})
    machines.push_back(ReadMachineFile("boards/" + board + ".toml"));
  return machines;
}

// 64 blocks of 2 us: 32 on each of two equal cores, a take of 1050 ns each, a barrier of 3 us.
TEST(Simulated, ASmallCaseByHand) {
  const MachineFile file = ToyMachine({{2, 1.6384, 100}}, 50, 3);
  const Graph graph = Chain({1, 32, 32, 10}).Conv(10, 1).Done();
  Costs costs = EstimateCosts(graph, file, {2});
  costs.nodes[0].core_ns = {64 * 2000};
  ASSERT_EQ(TimesOn(costs, costs.nodes[0], {2}).blocks, 64);
  const Simulation s = SimulateModel(graph, file, costs, {"equal", 2});
  EXPECT_EQ(s.run_ns, (std::vector<int64_t>(2, 1050 + 32 * 2000 + 3000)));
  EXPECT_EQ(s.ideal_ns, 32 * 2000);
  ASSERT_EQ(s.cores.size(), 2u);
  for (const SimulatedCore& core : s.cores) {
    EXPECT_EQ(core.busy_ns, 2 * 32 * 2000);
    EXPECT_EQ(core.taking_ns, 2 * 1050);
    EXPECT_EQ(core.waiting_ns, 2 * 3000);
    EXPECT_EQ(core.takes, 2);
  }
}

TEST(Simulated, EqualSlicesWaitForTheSlowCore) {
  const MachineFile file = ToyMachine({{1, 10, 100}, {1, 2.5, 100}});
  const Graph graph = Chain({1, 64, 64, 128}).Conv(128, 3).Done();
  const double alone = SimulationOf(graph, file, {1, 0}, {"equal", 1}).median_ns();
  EXPECT_NEAR(SimulationOf(graph, file, {1, 1}, {"equal", 1}).median_ns() / alone, 2, 0.01);
  // Of 64 blocks the fast core's part would be 51.2.
  EXPECT_NEAR(SimulationOf(graph, file, {1, 1}, {"adaptive", 20}).median_ns() / alone, 52.0 / 64, 0.002);
}

TEST(Simulated, AdaptiveCarriesLargeNetworksOnUnevenCores) {
  for (const MachineFile& file : UnevenMachines())
    for (const Network& n : LargeNetworks()) {
      const std::vector<int> cores = PhysicalCores(file.machine);
      const Simulation s = SimulationOf(n.graph, file, cores, {"adaptive", 20});
      EXPECT_GE(s.efficiency(), 0.93) << n.name << " on " << file.machine.name;
      EXPECT_LE(s.median_ns(), FindBestSubset(n.graph, file, cores, {"adaptive", 20}).median_ns)
          << n.name << " on " << file.machine.name;
    }
}

TEST(Simulated, EqualIsSlowerThanTheBigClusterAlone) {
  const MachineFile file = ReadMachineFile("boards/exynos-5422.toml");
  for (const Network& n : LargeNetworks()) {
    const double big_alone = SimulationOf(n.graph, file, {4, 0}, {"equal", 3}).median_ns();
    EXPECT_GT(SimulationOf(n.graph, file, {4, 4}, {"equal", 3}).median_ns(), big_alone) << n.name;
  }
}

TEST(Simulated, EveryBlockIsComputedOnceAndNoTimeIsNegative) {
  const MachineFile file = ReadMachineFile("boards/tensor-g4.toml");
  const Graph graph = ResNet50();
  const Costs costs = EstimateCosts(graph, file, PhysicalCores(file.machine));
  int64_t flops = 0, computing = 0;
  for (const NodeCost& n : costs.nodes) {
    flops += n.flops;
    computing += n.computes();
  }
  for (const std::string& policy : PolicyNames()) {
    const Simulation s = SimulateModel(graph, file, costs, {policy, 3, {}, true});
    int64_t traced = 0;
    for (const TraceEvent& e : s.trace.events) {
      traced += e.flops;
      EXPECT_LE(0, e.start_ns);
      EXPECT_LE(e.start_ns, e.end_ns);
      EXPECT_LE(e.end_ns, s.trace.total_ns);
    }
    // each event's is rounded
    EXPECT_NEAR(double(traced), double(flops), double(s.trace.events.size())) << policy;
    int64_t total = 0;
    for (const int64_t ns : s.run_ns) total += ns;
    for (const SimulatedCore& core : s.cores) {
      EXPECT_GE(core.busy_ns, 0);
      EXPECT_GE(core.waiting_ns, 0);
      EXPECT_EQ(core.busy_ns + core.taking_ns + core.waiting_ns, total);
    }
    EXPECT_GE(s.run_ns.back(), int64_t(s.ideal_ns)) << policy;
  }
  EXPECT_EQ(computing, int64_t(costs.nodes.size()));
}

// Many small layers, of which most are not worth a barrier.
Graph SmallLayers() {
  Chain net({1, 14, 14, 24});
  for (int i = 0; i < 30; ++i) net.Conv(24, 1).Conv(24, 3, 1, 24).Relu();
  return net.Done();
}

TEST(Simulated, APlanLeavesOutCoresThatDoNotPay) {
  for (const MachineFile& file : UnevenMachines()) {
    const Graph graph = SmallLayers();
    const std::vector<int> cores = PhysicalCores(file.machine);
    const Costs costs = EstimateCosts(graph, file, cores);
    const ThreadPlan planned = PlanSimulated(graph, file, costs, "adaptive");
    ThreadPlan everybody = planned;
    for (Step& step : everybody.steps) step.threads = everybody.threads;
    const double with_plan = SimulatePlan(planned, file, costs, {}).median_ns();
    EXPECT_LT(with_plan, 0.9 * SimulatePlan(everybody, file, costs, {}).median_ns()) << file.machine.name;
    EXPECT_LE(with_plan, 1.0001 * FindBestSubset(graph, file, cores, {}).median_ns) << file.machine.name;
    EXPECT_NEAR(with_plan * 1e-3, PredictedUs(planned), 0.05 * PredictedUs(planned)) << file.machine.name;
  }
}

TEST(Simulated, WhoTakesNoPartDoesNothing) {
  const MachineFile file = ToyMachine({{1, 10, 100}, {1, 10, 100}}, 50, 1);
  const Graph graph = Chain({1, 64, 64, 128}).Conv(128, 3).Done();
  const Costs costs = EstimateCosts(graph, file, {1, 1});
  ThreadPlan plan = PlanSimulated(graph, file, costs, "adaptive");
  plan.steps[0].threads = 1;
  const Simulation s = SimulatePlan(plan, file, costs, {"", 2, {}, true});
  EXPECT_EQ(s.cores[1].busy_ns + s.cores[1].taking_ns, 0);
  EXPECT_EQ(s.trace.events.size(), 1u);
  EXPECT_NEAR(s.median_ns(), SimulationOf(graph, file, {1, 0}, {}).median_ns(), 1);
}

// 1 ms on one core, far longer than the others spin, and then a layer for both: it begins when the second is
// awake.
TEST(Simulated, WhoSleptIsWokenAndWaitedFor) {
  MachineFile file = ToyMachine({{2, 10, 100}});
  file.clusters[0].wake_us = {50, "estimate"};
  const Graph graph = Chain({1, 64, 64, 128}).Relu().Conv(128, 1).Done();
  Costs costs = EstimateCosts(graph, file, {2});
  costs.nodes[0].pieces = 1;
  costs.nodes[0].core_ns = {1e6};
  costs.take_ns = {0};
  costs.gbytes_per_s = {Costs::kNoLimit};
  costs.memory_gbytes_per_s = Costs::kNoLimit;
  costs.nodes[1].core_ns = {64 * 500};
  costs.nodes[1].pieces = 64;
  EXPECT_EQ(SimulateModel(graph, file, costs, {"equal", 1}).run_ns[0], 1'000'000 + 50'000 + 32 * 500);
  costs.nodes[0].core_ns = {99e3};
  EXPECT_EQ(SimulateModel(graph, file, costs, {"equal", 1}).run_ns[0], 99'000 + 32 * 500);
}

// The second core is done with its half of the first layer 1.5 ms before the first one is.
TEST(Simulated, WhoIsDoneSoonerIsAwakeForTheNextLayer) {
  MachineFile file = ToyMachine({{1, 10, 100}, {1, 10, 100}});
  file.clusters[1].wake_us = {50, "estimate"};
  const Graph graph = Chain({1, 64, 64, 128}).Relu().Conv(128, 1).Done();
  Costs costs = EstimateCosts(graph, file, {1, 1});
  costs.take_ns = {0, 0};
  costs.gbytes_per_s = {Costs::kNoLimit, Costs::kNoLimit};
  costs.memory_gbytes_per_s = Costs::kNoLimit;
  costs.nodes[0].core_ns = {4e6, 1e6};
  costs.nodes[0].pieces = 64;
  costs.nodes[1].core_ns = {64 * 500, 64 * 500};
  costs.nodes[1].pieces = 64;
  EXPECT_EQ(SimulateModel(graph, file, costs, {"equal", 1}).run_ns[0], 2'000'000 + 32 * 500);
  costs.nodes[0].core_ns = {6e6, 1e6};  // 2.5 ms before: it sleeps
  EXPECT_EQ(SimulateModel(graph, file, costs, {"equal", 1}).run_ns[0], 3'000'000 + 50'000 + 32 * 500);
}

TEST(Simulated, ThreadsOfACoreAreOneWorker) {
  MachineFile file = ToyMachine({{4, 10, 10}, {2, 5, 5}});
  file.machine.clusters[0].siblings = {{0, 1}, {2, 3}};
  const Simulation s = SimulationOf(Vgg16(), file, {2, 1}, {"adaptive", 1});
  ASSERT_EQ(s.cores.size(), 3u);
  EXPECT_EQ(s.cores[0].cpu, 0);
  EXPECT_EQ(s.cores[1].cpu, 2);
  EXPECT_EQ(s.cores[2].cpu, 4);
}

TEST(Simulated, TheSameSeedGivesTheSameTimes) {
  const MachineFile file = ReadMachineFile("boards/rk3399.toml");
  const auto with_seed = [&](uint64_t seed) {
    const Interference random{Interference::Kind::kRandom, {4}, 0.5, 20'000'000, seed};
    return SimulationOf(ResNet50(), file, {2, 4}, {"adaptive", 5, {random}}).run_ns;
  };
  EXPECT_EQ(with_seed(1), with_seed(1));
  EXPECT_NE(with_seed(1), with_seed(2));
}

// A core that a second model has half of is half a core, and the adaptive policy finds that out.
TEST(Simulated, AdaptiveGetsBySteadyInterference) {
  const MachineFile file = ReadMachineFile("boards/exynos-5422.toml");
  const Interference steady{Interference::Kind::kSteady, {4, 5}, 0.5};
  const Graph graph = ResNet50();
  const Simulation adaptive = SimulationOf(graph, file, {4, 4}, {"adaptive", 20, {steady}});
  EXPECT_GE(adaptive.efficiency(), 0.93);
  EXPECT_LE(adaptive.efficiency(), 1);
  EXPECT_LT(SimulationOf(graph, file, {4, 0}, {"equal", 20, {steady}}).efficiency(), 0.8);
}

TEST(Simulated, StopsWhereItIsCancelled) {
  CancelToken cancel;
  cancel.Cancel();
  const MachineFile file = ToyMachine({{2, 10, 10}});
  EXPECT_THROW(
      SimulationOf(Chain({100}).Relu().Done(), file, {2}, {.policy = "equal", .runs = 1, .cancel = &cancel}),
      Error);
}

TEST(Simulated, NonsenseIsRefused) {
  const MachineFile file = ToyMachine({{2, 10, 10}});
  const Graph graph = Chain({100}).Relu().Done();
  EXPECT_THROW(SimulationOf(graph, file, {2}, {"magic"}), Error);
  EXPECT_THROW(SimulationOf(graph, file, {2}, {"equal", 0}), Error);
  EXPECT_THROW(SimulationOf(graph, file, {2}, {"equal", 10'001}), Error);
  EXPECT_THROW(SimulationOf(graph, ToyMachine({{65, 10, 10}}), {65}, {"equal", 1}), Error);
  EXPECT_THROW(SimulationOf(graph, file, {2}, {"equal", 1, {{Interference::Kind::kSteady, {0}, 1.0}}}),
               Error);
}

TEST(Subsets, AreUnionsOfClustersAndTheFirstCoresOfOne) {
  const std::vector<std::vector<int>> expected{{2, 0}, {0, 3}, {1, 0}, {0, 1}, {0, 2}};
  EXPECT_EQ(Subsets({2, 3}), expected);
  EXPECT_TRUE(Subsets({1}).empty());
  EXPECT_EQ(Subsets({1, 1, 1}).size(), 6u);
  EXPECT_EQ(Subsets(std::vector<int>(60, 1)).size(), 59u);
  EXPECT_EQ(Subsets({64}).size(), 18u);  // 1 to 8, 10, 12, 15, ...
}

TEST(Subsets, TheBestLeavesOutWhatHarms) {
  // Nothing here is worth dividing among clusters: a barrier of 10 ms.
  const MachineFile file = ToyMachine({{1, 10, 100}, {1, 1, 100}}, 0, 10'000);
  const BestSubset best = FindBestSubset(ResNet50(), file, {1, 1}, {"adaptive", 2});
  EXPECT_EQ(best.cores, (std::vector<int>{1, 0}));
  EXPECT_EQ(CoresText(file.machine, best.cores), "c0 1");
  EXPECT_TRUE(FindBestSubset(ResNet50(), ToyMachine({{1, 10, 100}}), {1}, {"adaptive", 2}).cores.empty());
}

TEST(SimulatedTrace, HasTheClocksAndThePowerOfItsClusters) {
  const MachineFile file = ReadMachineFile("boards/rk3399.toml");
  const Graph graph = ResNet50();
  const Costs costs = EstimateCosts(graph, file, PhysicalCores(file.machine));
  const Trace trace = SimulateModel(graph, file, costs, {"equal", 1, {}, true}).trace;
  ASSERT_EQ(trace.counters.size(), 3u);
  EXPECT_EQ(trace.counters[0].points[0].value, file.clusters[0].max_mhz.value);
  double idle = 0, most = 0;
  for (size_t c = 0; c < 2; ++c) {
    idle += file.clusters[c].idle_w.value;
    most += file.clusters[c].idle_w.value +
            double(PhysicalCores(file.machine)[c]) * file.clusters[c].active_w.value;
  }
  const TraceCounter& power = trace.counters[2];
  double highest = 0;
  for (const TraceCounter::Point& point : power.points) {
    EXPECT_GE(point.value, idle - 1e-9);
    highest = std::max(highest, point.value);
  }
  EXPECT_NEAR(highest, most, 1e-9) << "all cores compute at the start of a large node";
  EXPECT_NEAR(power.points.back().value, idle, 1e-9);
  EXPECT_TRUE(SimulateModel(graph, file, costs, {"equal", 1, {}, false}).trace.counters.empty());
}

TEST(SimulatedTrace, HasAWorkerForEachCoreAndWaitsInsideOfNodes) {
  const MachineFile file = ToyMachine({{1, 10, 100}, {1, 5, 100}}, 50, 1);
  const Simulation s =
      SimulationOf(Chain({1, 64, 64, 128}).Conv(128, 3).Done(), file, {1, 1}, {"equal", 1, {}, true});
  ASSERT_EQ(s.trace.events.size(), 4u);
  for (size_t w = 0; w < 2; ++w) {
    const TraceEvent &node = s.trace.events[2 * w], &wait = s.trace.events[2 * w + 1];
    EXPECT_EQ(node.worker, int(w));
    EXPECT_EQ(node.op, "Conv");
    EXPECT_EQ(wait.name, "[wait]");
    EXPECT_EQ(wait.op, node.name);
    EXPECT_EQ(wait.end_ns, node.end_ns);
    EXPECT_EQ(node.end_ns, s.trace.total_ns);
  }
  EXPECT_LT(s.trace.events[1].start_ns, s.trace.events[3].start_ns);  // the fast core waits longer
}

}  // namespace
}  // namespace mete
