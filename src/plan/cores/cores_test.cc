#include "plan/cores/cores.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "costs/costs_testing.h"
#include "mete/error.h"
#include "plan/cores/paths.h"
#include "plan/threads/thread_plan_json.h"
#include "schedule/simulate.h"

namespace mete {
namespace {

// Two fast cores and two with 0.4 of their speed; 1 us to take blocks, 3 us for the barrier, 50 us to wake
// up.
MachineFile BigLittle(double barrier_us = 3) {
  MachineFile file = ToyMachine({{2, 10, 100}, {2, 4, 100}}, 0, barrier_us);
  for (ClusterFigures& figures : file.clusters) figures.wake_us = {50, "estimate"};
  return file;
}

// Returns a plan for all cores of the machine.
ThreadPlan PlanOn(const MachineFile& file, const Graph& graph, const Costs& costs,
                  const std::string& policy = "adaptive") {
  std::vector<int> cores;
  for (const Cluster& c : file.machine.clusters) cores.insert(cores.end(), c.cores.begin(), c.cores.end());
  ThreadPlan plan = PlanCores(graph, file.machine, {int(cores.size()), cores, {}, policy}, costs);
  Verify(plan, graph, file.machine);
  return plan;
}

ThreadPlan PlanOn(const MachineFile& file, const Graph& graph) {
  return PlanOn(file, graph, EstimateCosts(graph, file, PhysicalCores(file.machine)));
}

// Returns one line per step: the choice and its time, and the rejected choices with their times.
std::string Summary(const ThreadPlan& plan) {
  std::string text;
  for (const Step& s : plan.steps) {
    text += fmt::format("{} {}, {} blocks, {:.1f} us:", s.node, s.threads, fmt::join(s.blocks, "+"),
                        s.predicted_us);
    for (const Rejected& r : s.rejected) text += fmt::format(" [{}, {:.1f} us]", r.choice, r.predicted_us);
    text += "\n";
  }
  return text;
}

TEST(DealOut, DealsOutWholeBlocks) {
  EXPECT_EQ(DealOut(10, {{0, 0, 5}}).done_ns, 50);
  EXPECT_EQ(DealOut(10, {{0, 1, 5}, {0, 1, 5}}).done_ns, 26);
  EXPECT_EQ(DealOut(11, {{0, 1, 5}, {0, 1, 5}}).done_ns, 31);   // the last block has one worker
  EXPECT_EQ(DealOut(7, {{0, 0, 10}, {0, 0, 25}}).done_ns, 50);  // 5 and 2 blocks
  EXPECT_EQ(DealOut(2, {{0, 0, 10}, {0, 0, 25}}).done_ns, 20);  // no block for the slow worker
  // The region waits for a worker without blocks too.
  EXPECT_EQ(DealOut(2, {{0, 0, 10}, {90, 0, 10}}).done_ns, 90);
  EXPECT_EQ(DealOut(0, {{0, 3, 10}, {7, 0, 10}}).done_ns, 7);
}

// Two cores with two threads each.
MachineFile TwoThreadsACore() {
  MachineFile file = ToyMachine({{4, 10, 100}});
  file.machine.clusters[0].siblings = {{0, 1}, {2, 3}};
  return file;
}

Graph LargeProduct() {
  Chain net({1, 64, 64, 64});
  return net.Conv(64, 3).Done();
}

TEST(PlanCores, CountsThreadsOfOneCoreOnce) {
  const MachineFile file = TwoThreadsACore();
  const Graph graph = LargeProduct();
  const Costs costs = EstimateCosts(graph, file, PhysicalCores(file.machine));
  for (const std::vector<int>& cores : {std::vector<int>{}, {0, 1, 2, 3}, {3, 2, 1, 0}}) {
    const ThreadPlan plan = PlanCores(graph, file.machine, {4, cores}, costs);
    Verify(plan, graph, file.machine);
    EXPECT_EQ(plan.threads, 4);
    EXPECT_EQ(CountedThreads(plan, file.machine), 2);
    EXPECT_EQ(plan.steps[0].threads, 2);
    EXPECT_NE(plan.steps[0].reason.find("; 2 threads more would share cores with these"), std::string::npos)
        << plan.steps[0].reason;
    EXPECT_NEAR(PredictedUs(plan), PredictedUs(PlanCores(graph, file.machine, {2, {0, 2}}, costs)), 1e-6);
  }
  EXPECT_EQ(PlanCores(graph, file.machine, {4, {0, 1, 2, 3}}, costs).cores, (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(PlanCores(graph, file.machine, {2, {0, 1}}, costs).steps[0].threads, 1);
  EXPECT_EQ(CountedThreads(PlanOneCpu(graph, file.machine, {1}), file.machine), 1);
  EXPECT_EQ(CountedThreads(PlanOneCpu(graph, ToyMachine({{2, 10, 100}}).machine, {4}),
                           ToyMachine({{2, 10, 100}}).machine),
            4);
}

// No other distribution of the blocks is better, and this one is possible.
TEST(DealOut, IsTheLeastThereIs) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<Taker> workers(1 + random() % 5);
    for (Taker& w : workers)
      w = {double(random() % 3 * 40), double(random() % 20), double(1 + random() % 50)};
    const int64_t blocks = int64_t(random() % 60);
    const Dealt dealt = DealOut(blocks, workers);
    const double got = dealt.done_ns;
    ASSERT_EQ(std::accumulate(dealt.blocks.begin(), dealt.blocks.end(), int64_t{0}), blocks);
    const auto done_by = [&](double ns) {
      int64_t done = 0;
      for (const Taker& w : workers)
        done += std::max<int64_t>(0, int64_t((ns - w.there_ns - w.take_ns) / w.block_ns + 1e-9));
      return done;
    };
    double last = 0;
    for (const Taker& w : workers) last = std::max(last, w.there_ns);
    ASSERT_GE(done_by(got), blocks) << i;
    ASSERT_TRUE(got == last || done_by(got - 1e-3) < blocks) << i;
    ASSERT_GE(got, last) << i;
  }
}

TEST(PlanCores, ALargeLayerIsForAll) {
  const ThreadPlan plan = PlanOn(BigLittle(), Chain({1, 64, 64, 128}).Conv(128, 3).Done());
  EXPECT_EQ(plan.steps[0].threads, 4);
  EXPECT_EQ(plan.steps[0].all_blocks(), 4 * kBlocksPerThread);
  EXPECT_EQ(plan.steps[0].blocks, (std::vector<int64_t>{46, 46, 18, 18}));  // 128 blocks in the ratio 1 : 0.4
  const double flops = 2.0 * 64 * 64 * 128 * 128 * 9;
  EXPECT_NEAR(plan.steps[0].predicted_us, flops / 28 * 1e-3, 0.02 * flops / 28 * 1e-3);
  ASSERT_EQ(plan.steps[0].rejected.size(), 3u);
  EXPECT_EQ(plan.steps[0].rejected[0].choice, "c0 2 + c1 1");
  EXPECT_NE(plan.steps[0].reason.find("all cores"), std::string::npos);
}

// Computed by hand: 7 x 2 tiles with 200704 operations in all take 1.43 us per tile on a fast core and 3.58
// us on a slow core, which needs 2.5 us to take them. Three cores have 6, 6 and 2 tiles: 2.5 + 2 x 3.58 + 3
// us. The second slow core would gain less than a hundredth.
TEST(PlanCores, ASmallLayerIsForAFew) {
  const Graph graph = Chain({1, 7, 7, 64}).Conv(32, 1).Done();
  EXPECT_EQ(Summary(PlanOn(BigLittle(), graph)),
            "Conv3 3, 6+6+2 blocks, 12.7 us: [c0 2 + c1 2, 12.6 us] [c0 2, 14.0 us] [c0 1, 20.1 us]\n");
}

TEST(PlanCores, ATinyLayerStaysOnOneCore) {
  const ThreadPlan plan = PlanOn(BigLittle(20), Chain({1, 7, 7, 64}).Conv(32, 1).Done());
  EXPECT_EQ(plan.steps[0].threads, 1);
  EXPECT_EQ(plan.steps[0].blocks, std::vector<int64_t>{1});
  EXPECT_EQ(plan.steps[0].rejected.size(), 3u);
  EXPECT_NE(plan.steps[0].rejected[0].reason.find("longer"), std::string::npos)
      << plan.steps[0].rejected[0].reason;
  const ThreadPlan one_piece = PlanOn(BigLittle(), Chain({100}).Relu().Done());
  EXPECT_EQ(one_piece.steps[0].threads, 1);
  EXPECT_TRUE(one_piece.steps[0].rejected.empty());
  EXPECT_NE(one_piece.steps[0].reason.find("nothing to divide"), std::string::npos);
}

// Another core that gains too little is left out: one core has nearly all of the memory's bandwidth.
TEST(PlanCores, ASmallGainIsNoReason) {
  const int64_t elements = 1 << 24;
  MachineFile file = ToyMachine({{2, 10, 99.5}, {2, 4, 99.5}});
  const ThreadPlan plan = PlanOn(file, Chain({elements}).Relu().Done());
  EXPECT_EQ(plan.steps[0].threads, 1);
  bool found = false;
  for (const Rejected& r : plan.steps[0].rejected)
    found |= r.reason.find("that more cores must gain") != std::string::npos;
  EXPECT_TRUE(found) << ThreadPlanJson(plan).dump(2);
}

// Costs on two equal cores. Nodes with one piece and nodes that can be divided alternate.
Costs Alternating(int nodes, double divisible_ns, double whole_ns) {
  Costs costs{{1, 1}};
  costs.take_ns = costs.barrier_ns = {0, 0};
  costs.wake_ns = {0, 50'000};
  costs.gbytes_per_s = {Costs::kNoLimit, Costs::kNoLimit};
  for (int i = 0; i < nodes; ++i) {
    NodeCost node{"n" + std::to_string(i), "Relu", NodeKind::kProduct};
    node.bytes = 1;
    node.pieces = i % 2 == 0 ? 1 : 64;
    node.core_ns.assign(2, i % 2 == 0 ? whole_ns : divisible_ns);
    costs.nodes.push_back(std::move(node));
  }
  return costs;
}

std::vector<int> ThreadsOf(const Costs& costs) {
  const std::vector<PlannedThread> threads{{0}, {1}};
  std::vector<int> counts;
  for (const Decision& d : BestPath(costs, Prediction(costs, threads))) counts.push_back(d.threads);
  return counts;
}

// The second core sleeps after 100 us without work, and needs 50 us to wake up.
TEST(BestPath, WakingHasToBeWorthIt) {
  EXPECT_EQ(ThreadsOf(Alternating(4, 40e3, 90e3)), (std::vector<int>{1, 2, 1, 2}));  // still awake
  // The first core alone is done before the second one is awake.
  EXPECT_EQ(ThreadsOf(Alternating(4, 40e3, 110e3)), (std::vector<int>{1, 1, 1, 1}));
  // After 50 us the second core takes half of the remaining work.
  EXPECT_EQ(ThreadsOf(Alternating(4, 60e3, 110e3)), (std::vector<int>{1, 2, 1, 2}));
}

// The first divisible node takes 45 us on one core, less than waking a thread (50 us), but the nodes after it
// gain by the awake thread.
Costs OneWholeAndThenMany() {
  Costs costs = Alternating(5, 45e3, 110e3);
  costs.nodes[2] = costs.nodes[4] = costs.nodes[1];
  costs.nodes[2].node = "n2";
  costs.nodes[4].node = "n4";
  return costs;
}

TEST(BestPath, AThreadIsWokenForAllNodesThatFollow) {
  EXPECT_EQ(ThreadsOf(OneWholeAndThenMany()), (std::vector<int>{1, 2, 2, 2, 2}));
}

TEST(PlanCores, SaysWhatWakingHasToDoWithIt) {
  const MachineFile file = ToyMachine({{1, 10, 100}, {1, 10, 100}});
  const auto why_not = [&](const Costs& costs, size_t node) {
    Chain net({100});
    for (size_t i = 0; i < costs.nodes.size(); ++i) net.Relu();
    Graph graph = net.Done();
    for (size_t i = 0; i < graph.nodes.size(); ++i) graph.nodes[i].name = costs.nodes[i].node;
    return PlanOn(file, graph, costs).steps[node].rejected.at(0).reason;
  };
  EXPECT_EQ(why_not(OneWholeAndThenMany(), 1), "10.0 % sooner, but steps after it would find threads asleep");
  EXPECT_EQ(why_not(Alternating(4, 40e3, 110e3), 1), "25.0 % longer: 1 asleep, to be woken");
}

TEST(BestPath, NobodyIsPredictedToBeSoonerByAnotherNumberEverywhere) {
  const MachineFile file = ReadMachineFile("boards/tensor-g4.toml");
  const Graph graph = ResNet50();
  const Costs costs = EstimateCosts(graph, file, PhysicalCores(file.machine));
  const std::vector<PlannedThread> threads{{0}, {1}, {1}, {1}, {2}, {2}, {2}, {2}};
  const Prediction prediction(costs, threads);
  const auto total = [&](auto&& count_of) {
    double sum = 0;
    for (size_t i = 0; i < costs.nodes.size(); ++i)
      if (costs.nodes[i].computes()) sum += prediction.Ns(i, count_of(i), 8);
    return sum;
  };
  const std::vector<Decision> path = BestPath(costs, prediction);
  const double best = total([&](size_t i) { return path[i].threads; });
  for (int k = 1; k <= 8; ++k) EXPECT_LE(best, 1.01 * total([&](size_t) { return k; })) << k;
}

// Once the policy knows the workers' times, its regions take the predicted time.
TEST(Prediction, IsWhatTheSimulationOfTheAdaptivePolicyGives) {
  const MachineFile file = ReadMachineFile("boards/exynos-5422.toml");
  const Graph graph = Chain({1, 28, 28, 128}).Conv(128, 3).Done();
  const Costs costs = EstimateCosts(graph, file, {4, 4});
  const std::vector<PlannedThread> threads{{0}, {0}, {0}, {0}, {1}, {1}, {1}, {1}};
  const Prediction prediction(costs, threads);
  for (const int count : {2, 4, 6, 8}) {
    const NodeTimes times = TimesOn(costs, costs.nodes[0], prediction.CoresOf(count));
    std::vector<double> speeds;
    for (int w = 0; w < count; ++w) speeds.push_back(w < 4 ? 1 : times.block_ns[0] / times.block_ns[1]);
    SimulatedWorkers workers =
        ConstantWorkers(speeds, costs.take_ns[0], BarrierNs(costs, prediction.CoresOf(count)));
    for (int w = 4; w < count; ++w) workers.take_ns[size_t(w)] = costs.take_ns[1];
    const auto policy = MakePolicy("adaptive", WorkersOf(speeds));
    int64_t now = 0, start = 0;
    for (int run = 0; run < 20; ++run) {
      start = now;
      now = Simulate(*policy, {1, times.blocks}, times.block_ns[0], workers, now).end_ns;
    }
    EXPECT_NEAR(double(now - start), prediction.Ns(0, count, count), 0.03 * double(now - start)) << count;
  }
}

TEST(PlanCores, OtherPoliciesHaveAllThreads) {
  const MachineFile file = BigLittle(20);
  const Graph graph = Chain({1, 7, 7, 64}).Conv(32, 1).Done();
  const ThreadPlan plan = PlanOn(file, graph, EstimateCosts(graph, file, {2, 2}), "equal");
  EXPECT_EQ(plan.steps[0].threads, 4);
  EXPECT_EQ(plan.steps[0].predicted_us, 0);
}

TEST(PlanCores, ViewsAndUnknownShapesAreNobodys) {
  Graph graph = Chain({4, 5}).Flat().Relu().Done();
  graph.AddNode("NonZero", "nonzero", {graph.inputs[0]}, {graph.AddValue("any", DType::kI64)});
  const ThreadPlan plan = PlanOn(BigLittle(), graph);
  EXPECT_EQ(plan.steps[0].threads, 1);
  EXPECT_EQ(plan.steps[0].reason, "nothing to compute");
  EXPECT_EQ(plan.steps[2].predicted_us, 0);
  EXPECT_EQ(PredictedUs(plan), plan.steps[1].predicted_us);
}

TEST(PlanCores, EmulatedSpeedsAndThreadsThatAreNotPinned) {
  const MachineFile file = ToyMachine({{2, 10, 100}}, 0, 0);
  const Graph graph = Chain({1, 64, 64, 128}).Conv(128, 3).Done();
  const Costs costs = EstimateCosts(graph, file, {2});
  const ThreadPlan even = PlanCores(graph, file.machine, {}, costs);
  const ThreadPlan slowed = PlanCores(graph, file.machine, {2, {1, 0}, {0.5, 1}, "adaptive"}, costs);
  EXPECT_TRUE(even.cores.empty());
  EXPECT_EQ(slowed.cores, (std::vector<int>{0, 1}));
  EXPECT_NEAR(slowed.steps[0].predicted_us / even.steps[0].predicted_us, 2 / 1.5, 0.02);
}

TEST(PlanCores, ManyCoresHaveAsManyAlternativesAsAreRead) {
  const ThreadPlan plan = PlanOn(ToyMachine({{40, 10, 100}}), Chain({1, 64, 64, 128}).Conv(128, 3).Done());
  EXPECT_EQ(plan.steps[0].rejected.size(), kMostRejected);
}

TEST(PlanCores, CostsOfSomethingElseAreRefused) {
  const MachineFile file = BigLittle();
  const Graph graph = Chain({100}).Relu().Done(), other = Chain({100}).Relu().Relu().Done();
  const Costs costs = EstimateCosts(graph, file, {2, 2});
  EXPECT_THROW(PlanCores(other, file.machine, {}, costs), Error);
  EXPECT_THROW(PlanCores(graph, ToyMachine({{2, 10, 10}}).machine, {}, costs), Error);
  EXPECT_THROW(PlanCores(graph, file.machine, {1, {99}}, costs), Error);
}

TEST(CoresOf, CountsTheThreadsOfEachCluster) {
  const MachineFile file = BigLittle();
  const ThreadPlan plan = PlanOn(file, Chain({100}).Relu().Done());
  EXPECT_EQ(CoresOf(plan, file.machine, 3), (std::vector<int>{2, 1}));
}

}  // namespace
}  // namespace mete
