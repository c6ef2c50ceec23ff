#include "costs/estimate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costs/costs_testing.h"
#include "mete/error.h"
#include "schedule/policy.h"

namespace mete {
namespace {

NodeTimes FirstOf(const Graph& graph, const MachineFile& file, const std::vector<int>& cores) {
  const Costs costs = EstimateCosts(graph, file, cores);
  return TimesOn(costs, costs.nodes[0], cores);
}

std::string ErrorOf(const Graph& graph, const MachineFile& file, const std::vector<int>& cores) {
  try {
    EstimateCosts(graph, file, cores);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(EstimateCosts, AConvolutionIsItsArithmeticAtTheSustainedPeak) {
  const Graph graph = Chain({1, 64, 64, 128}).Conv(128, 3).Done();
  const Costs costs = EstimateCosts(graph, ToyMachine({{2, 10, 50}, {2, 4, 50}}), {2, 2});
  const double flops = 2.0 * 64 * 64 * 128 * 128 * 9;
  ASSERT_EQ(costs.nodes.size(), 1u);
  const NodeCost& node = costs.nodes[0];
  EXPECT_EQ(node.kind, NodeKind::kProduct);
  EXPECT_NEAR(node.core_ns[0], flops / 10, 1e-6 * node.core_ns[0]);
  EXPECT_NEAR(node.core_ns[1], flops / 4, 1e-6 * node.core_ns[1]);
}

TEST(EstimateCosts, DepthwiseAnd8BitOnesHaveTheirOwnPeaks) {
  const MachineFile file = ToyMachine({{1, 0.1, 50}});
  const NodeCost depthwise =
      EstimateCosts(Chain({1, 64, 64, 128}).Conv(128, 3, 1, 128).Done(), file, {1}).nodes[0];
  EXPECT_EQ(depthwise.kind, NodeKind::kDepthwise);
  EXPECT_NEAR(depthwise.core_ns[0], 2.0 * 64 * 64 * 128 * 9 / 0.05, 1);
  const NodeCost int8 =
      EstimateCosts(Chain({1, 64, 64, 128}, DType::kU8).Conv(128, 3).Done(), file, {1}).nodes[0];
  EXPECT_TRUE(int8.int8);
  EXPECT_NEAR(int8.core_ns[0], 2.0 * 64 * 64 * 128 * 128 * 9 / 0.4, 1);
}

TEST(EstimateCosts, WhatHasNoArithmeticTakesItsBytes) {
  const int64_t elements = 1 << 22;
  const MachineFile file = ToyMachine({{2, 10, 50}, {4, 4, 20}});
  EXPECT_EQ(EstimateCosts(Chain({elements}).Relu().Done(), file, {2, 4}).nodes[0].kind, NodeKind::kMoves);
  const NodeTimes times = FirstOf(Chain({elements}).Relu().Done(), file, {2, 4});
  // A core has its share of the cluster's bandwidth.
  EXPECT_NEAR(times.block_ns[0] * double(times.blocks), 8.0 * elements / 25, 1);
  EXPECT_NEAR(times.block_ns[1] * double(times.blocks), 8.0 * elements / 5, 1);
}

TEST(EstimateCosts, ARecurrentNodeIsOnePieceOfAllItsTimeSteps) {
  Graph graph;
  const auto value = [&](const Shape& shape) {
    return graph.AddValue("v" + std::to_string(graph.values.size()), DType::kF32, shape);
  };
  graph.inputs = {value({100, 1, 64})};
  graph.outputs = {value({100, 1, 1, 64})};
  graph.AddNode("LSTM", "lstm", {graph.inputs[0], value({1, 256, 64}), value({1, 256, 64})},
                {graph.outputs[0]});
  const Costs costs = EstimateCosts(graph, ToyMachine({{2, 10, 50}}), {2});
  EXPECT_EQ(costs.nodes[0].pieces, 1);
  EXPECT_NEAR(costs.nodes[0].core_ns[0], 2.0 * 100 * 2 * 256 * 64 / 10, 1);
}

TEST(EstimateCosts, EachSequenceAndDirectionOfARecurrentNodeIsAPiece) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {100, 3, 64}),
                w = graph.AddConstant("w", Tensor(DType::kF32, {2, 256, 64})),
                y = graph.AddValue("y", DType::kF32, {100, 2, 3, 64});
  graph.inputs = {x};
  graph.outputs = {y};
  Attributes both;
  both.Set("direction", std::string("bidirectional"));
  graph.AddNode("LSTM", "lstm", {x, w, w}, {y}, both);
  EXPECT_EQ(EstimateCosts(graph, ToyMachine({{2, 10, 50}}), {2}).nodes[0].pieces, 2 * 3);
}

TEST(TimesOn, ClustersShareTheMemory) {
  const int64_t elements = 1 << 22;
  const Graph graph = Chain({elements}).Relu().Done();
  const MachineFile file = ToyMachine({{1, 10, 80}, {1, 10, 80}});
  const NodeTimes both = FirstOf(graph, file, {1, 1}), one = FirstOf(graph, file, {1, 0});
  EXPECT_NEAR(both.block_ns[0] * double(both.blocks), 8.0 * elements / 50, 1);  // half of 100 GB/s
  EXPECT_NEAR(one.block_ns[0] * double(one.blocks), 8.0 * elements / 80, 1);
  EXPECT_EQ(one.block_ns[1], 0);
}

// The times on some of the cores do not depend on the cores that the costs were made for.
TEST(TimesOn, SomeOfTheCoresTakeWhatTheyTakeAlone) {
  const MachineFile file = ToyMachine({{2, 10, 50}, {4, 4, 20}}, 50, 2);
  const Graph graph = Chain({1, 64, 64, 128}).Conv(128, 3).Relu().Done();
  const Costs all = EstimateCosts(graph, file, {2, 4});
  for (const std::vector<int>& cores : {std::vector<int>{1, 0}, {2, 0}, {2, 1}, {0, 3}}) {
    const Costs some = EstimateCosts(graph, file, cores);
    for (size_t n = 0; n < all.nodes.size(); ++n) {
      const NodeTimes got = TimesOn(all, all.nodes[n], cores), want = TimesOn(some, some.nodes[n], cores);
      EXPECT_EQ(got.blocks, want.blocks);
      EXPECT_EQ(got.block_ns, want.block_ns);
    }
  }
}

// Expects that Verify() finds what `spoil` changed, with a message that contains `words`.
void ExpectBad(void (*spoil)(Costs&), const char* words) {
  Costs costs = EstimateCosts(Chain({1, 64, 64, 128}).Conv(128, 3).Relu().Done(),
                              ToyMachine({{2, 10, 50}, {4, 4, 20}}), {2, 4});
  Verify(costs);
  spoil(costs);
  try {
    Verify(costs);
    ADD_FAILURE() << "accepted: " << words;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(VerifyCosts, FindsEachMisuse) {
  ExpectBad([](Costs& c) { c.take_ns.pop_back(); }, "a time for each cluster");
  ExpectBad([](Costs& c) { c.wake_ns[1] = -1; }, "a time is negative");
  ExpectBad([](Costs& c) { c.gbytes_per_s.push_back(1); }, "a bandwidth for each cluster");
  ExpectBad([](Costs& c) { c.memory_gbytes_per_s = NAN; }, "must be positive");
  ExpectBad([](Costs& c) { c.nodes[0].core_ns.clear(); }, "[Conv3] needs a time on each cluster");
  ExpectBad([](Costs& c) { c.nodes[0].core_ns[1] = -1; }, "[Conv3] computes in no time");
  ExpectBad([](Costs& c) { c.nodes[1].bytes = 0; }, "computes in no time");
  ExpectBad([](Costs& c) { c.nodes[0].core_ns[0] = Costs::kNoLimit; }, "not finite");
  ExpectBad([](Costs& c) { c.nodes[0].pieces = -1; }, "pieces");
}

TEST(TimesOn, WithoutALimitNobodyWaitsForMemory) {
  Costs costs{{2}};
  costs.gbytes_per_s = {Costs::kNoLimit};
  NodeCost node{"n", "Conv", NodeKind::kProduct};
  node.bytes = 1 << 30;
  node.pieces = 1000;
  node.core_ns = {64000};
  const NodeTimes times = TimesOn(costs, node, {2});
  EXPECT_EQ(times.blocks, 2 * kBlocksPerThread);
  EXPECT_EQ(times.block_ns[0], 1000);
}

TEST(EstimateCosts, ViewsAndUnknownShapesComputeNothing) {
  Graph graph = Chain({4, 5}).Flat().Relu().Done();
  const ValueId out = graph.AddValue("any", DType::kI64);
  graph.AddNode("NonZero", "nonzero", {graph.inputs[0]}, {out});
  const Costs costs = EstimateCosts(graph, ToyMachine({{1, 10, 10}}), {1});
  EXPECT_EQ(costs.nodes[0].kind, NodeKind::kView);
  EXPECT_EQ(costs.nodes[2].kind, NodeKind::kUnknown);
  EXPECT_FALSE(costs.nodes[0].computes());
  EXPECT_TRUE(costs.nodes[1].computes());
  EXPECT_FALSE(costs.nodes[2].computes());
}

TEST(EstimateCosts, SmallNodesHaveFewBlocks) {
  const MachineFile file = ToyMachine({{4, 10, 10}});
  EXPECT_EQ(FirstOf(Chain({1, 7, 7, 64}).Conv(32, 1).Done(), file, {4}).blocks, 7 * 2);  // tiles of 8 x 16
  EXPECT_EQ(FirstOf(Chain({100}).Relu().Done(), file, {4}).blocks, 1);
  EXPECT_EQ(FirstOf(Chain({1, 64, 64, 64}).Conv(64, 3).Done(), file, {4}).blocks, 4 * kBlocksPerThread);
  // A node on one core is not divided.
  EXPECT_EQ(FirstOf(Chain({1, 64, 64, 64}).Conv(64, 3).Done(), file, {1}).blocks, 1);
}

TEST(EstimateCosts, TakingAndTheBarrierComeFromTheFile) {
  const Costs costs =
      EstimateCosts(Chain({100}).Relu().Done(), ToyMachine({{1, 10, 10}, {1, 5, 10}}, 50, 2), {1, 1});
  EXPECT_EQ(costs.barrier_ns, (std::vector<int64_t>{2000, 2000}));
  EXPECT_EQ(BarrierNs(costs, {0, 1}), 2000);
  EXPECT_EQ(costs.take_ns, (std::vector<int64_t>{50 + TakeCost().ns, 50 + 2 * TakeCost().ns}));
}

TEST(EstimateCosts, ThreadsOfACoreCountOnce) {
  MachineFile file = ToyMachine({{6, 10, 10}, {2, 5, 5}});
  file.machine.clusters[0].siblings = {{0, 1}, {2, 3}, {4, 5}};
  EXPECT_EQ(PhysicalCores(file.machine), (std::vector<int>{3, 2}));
}

TEST(EstimateCosts, EstimatesAreNamed) {
  const std::string text = EstimatedFigures(ToyMachine({{1, 10, 10}}));
  EXPECT_EQ(
      text,
      "5 of the 9 figures (memory's gbytes_per_s, compute_share, depthwise_share, dequeue_ns, barrier_us)");
}

TEST(EstimateCosts, NonsenseIsRefused) {
  const Graph graph = Chain({100}).Relu().Done();
  const MachineFile file = ToyMachine({{2, 10, 10}, {1, 5, 5}});
  EXPECT_NE(ErrorOf(graph, file, {0, 0}).find("no cores"), std::string::npos);
  EXPECT_NE(ErrorOf(graph, file, {2}).find("wrong number of clusters; got 1, expected 2"), std::string::npos);
  EXPECT_NE(
      ErrorOf(graph, file, {3, 1}).find("wrong number of cores of cluster 'c0'; got 3, expected 0 to 2"),
      std::string::npos);
  EXPECT_NE(ErrorOf(graph, file, {-1, 1}).find("got -1"), std::string::npos);
  EXPECT_NE(ErrorOf(Chain({4, 5}).Flat().Done(), file, {2, 1}).find("nothing to estimate"),
            std::string::npos);
  const Graph huge = Chain({1 << 20, 1 << 20}).Product(1 << 20).Done();
  EXPECT_NE(ErrorOf(huge, file, {2, 1}).find("too long to be believed"), std::string::npos);
}

}  // namespace
}  // namespace mete
