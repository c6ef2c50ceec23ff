#include "costs/estimate.h"

#include <gtest/gtest.h>

#include "costs/costs_testing.h"
#include "mete/error.h"
#include "schedule/policy.h"

namespace mete {
namespace {

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
  EXPECT_EQ(node.blocks, 4 * kBlocksPerThread);
  EXPECT_NEAR(node.block_ns[0], flops / 10 / double(node.blocks), 1e-6 * node.block_ns[0]);
  EXPECT_NEAR(node.block_ns[1], flops / 4 / double(node.blocks), 1e-6 * node.block_ns[1]);
}

TEST(EstimateCosts, DepthwiseAnd8BitOnesHaveTheirOwnPeaks) {
  const MachineFile file = ToyMachine({{1, 0.1, 50}});
  const NodeCost depthwise = EstimateCosts(Chain({1, 64, 64, 128}).Conv(128, 3, 1, 128).Done(), file, {1}).nodes[0];
  EXPECT_EQ(depthwise.kind, NodeKind::kDepthwise);
  EXPECT_NEAR(depthwise.block_ns[0], 2.0 * 64 * 64 * 128 * 9 / 0.05, 1);
  const NodeCost int8 = EstimateCosts(Chain({1, 64, 64, 128}, DType::kU8).Conv(128, 3).Done(), file, {1}).nodes[0];
  EXPECT_TRUE(int8.int8);
  EXPECT_NEAR(int8.block_ns[0], 2.0 * 64 * 64 * 128 * 128 * 9 / 0.4, 1);
}

TEST(EstimateCosts, WhatHasNoArithmeticTakesItsBytes) {
  const int64_t elements = 1 << 22;
  const Costs costs = EstimateCosts(Chain({elements}).Relu().Done(), ToyMachine({{2, 10, 50}, {4, 4, 20}}), {2, 4});
  const NodeCost& node = costs.nodes[0];
  EXPECT_EQ(node.kind, NodeKind::kMoves);
  // A core has its part of the cluster's bandwidth.
  EXPECT_NEAR(node.block_ns[0] * double(node.blocks), 8.0 * elements / 25, 1);
  EXPECT_NEAR(node.block_ns[1] * double(node.blocks), 8.0 * elements / 5, 1);
}

TEST(EstimateCosts, ClustersShareTheMemory) {
  const int64_t elements = 1 << 22;
  const Graph graph = Chain({elements}).Relu().Done();
  const MachineFile file = ToyMachine({{1, 10, 80}, {1, 10, 80}});
  const NodeCost both = EstimateCosts(graph, file, {1, 1}).nodes[0], one = EstimateCosts(graph, file, {1, 0}).nodes[0];
  EXPECT_NEAR(both.block_ns[0] * double(both.blocks), 8.0 * elements / 50, 1);  // of 100 GB/s
  EXPECT_NEAR(one.block_ns[0] * double(one.blocks), 8.0 * elements / 80, 1);
  EXPECT_EQ(one.block_ns[1], 0);
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
  EXPECT_EQ(EstimateCosts(Chain({1, 7, 7, 64}).Conv(32, 1).Done(), file, {4}).nodes[0].blocks, 7 * 2);  // tiles of 8 x 16
  EXPECT_EQ(EstimateCosts(Chain({100}).Relu().Done(), file, {4}).nodes[0].blocks, 1);
  EXPECT_EQ(EstimateCosts(Chain({1, 64, 64, 64}).Conv(64, 3).Done(), file, {1}).nodes[0].blocks, 1);  // one core divides nothing
}

TEST(EstimateCosts, TakingAndTheBarrierComeFromTheFile) {
  const Costs costs = EstimateCosts(Chain({100}).Relu().Done(), ToyMachine({{1, 10, 10}, {1, 5, 10}}, 50, 2), {1, 1});
  EXPECT_EQ(costs.barrier_ns, 2000);
  EXPECT_EQ(costs.take_ns, (std::vector<int64_t>{50 + TakeCost().ns, 50 + 2 * TakeCost().ns}));
}

TEST(EstimateCosts, ThreadsOfACoreCountOnce) {
  MachineFile file = ToyMachine({{6, 10, 10}, {2, 5, 5}});
  file.machine.clusters[0].siblings = {{0, 1}, {2, 3}, {4, 5}};
  EXPECT_EQ(PhysicalCores(file.machine), (std::vector<int>{3, 2}));
}

TEST(EstimateCosts, EstimatesAreNamed) {
  const std::string text = EstimatedFigures(ToyMachine({{1, 10, 10}}));
  EXPECT_EQ(text, "5 of the 9 figures (memory's gbytes_per_s, compute_share, depthwise_share, dequeue_ns, barrier_us)");
}

TEST(EstimateCosts, NonsenseIsRefused) {
  const Graph graph = Chain({100}).Relu().Done();
  const MachineFile file = ToyMachine({{2, 10, 10}, {1, 5, 5}});
  EXPECT_NE(ErrorOf(graph, file, {0, 0}).find("no cores"), std::string::npos);
  EXPECT_NE(ErrorOf(graph, file, {2}).find("wrong number of clusters; got 1, expected 2"), std::string::npos);
  EXPECT_NE(ErrorOf(graph, file, {3, 1}).find("wrong number of cores of cluster 'c0'; got 3, expected 0 to 2"), std::string::npos);
  EXPECT_NE(ErrorOf(graph, file, {-1, 1}).find("got -1"), std::string::npos);
  EXPECT_NE(ErrorOf(Chain({4, 5}).Flat().Done(), file, {2, 1}).find("nothing to estimate"), std::string::npos);
  const Graph huge = Chain({1 << 20, 1 << 20}).Product(1 << 20).Done();
  EXPECT_NE(ErrorOf(huge, file, {2, 1}).find("too long to be believed"), std::string::npos);
}

}  // namespace
}  // namespace mete
