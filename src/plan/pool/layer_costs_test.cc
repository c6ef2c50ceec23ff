#include "plan/pool/layer_costs.h"

#include <gtest/gtest.h>

#include "passes/graphs_testing.h"

namespace mete {
namespace {

// A network of Conv, Relu; a Conv whose output is added to its input; GlobalAveragePool, Flatten.
Graph Net() {
  Builder b;
  const ValueId first = b.Op("Relu", {b.Conv(b.Input({1, 8, 30, 30}), 8, 16, 3)});
  const ValueId sum = b.Op("Add", {b.Conv(first, 16, 16, 1), first});
  b.Output(b.Op("Flatten", {b.Op("GlobalAveragePool", {sum})}));
  InferShapes(b.graph);
  return b.graph;
}

TEST(LayerCosts, HalvesStandSideBySideAndAreOfTheirLayersNodes) {
  const Graph graph = Net();
  const std::vector<Layer> layers = LayersOf(graph);
  const LayerHalves halves = LayerGraphs(graph).HalvesOf(layers);
  Verify(halves.graph);
  ASSERT_EQ(halves.parts.size(), layers.size());
  size_t nodes = 0;
  for (size_t l = 0; l < layers.size(); ++l) {
    if (halves.parts[l] == 1) continue;
    EXPECT_DOUBLE_EQ(halves.parts[l], 0.5) << l;
    for (int n = layers[l].begin; n < layers[l].end; ++n)
      EXPECT_EQ(halves.graph.nodes[nodes++].name, graph.nodes[size_t(n)].name);
  }
  EXPECT_EQ(nodes, halves.graph.nodes.size());
  EXPECT_GT(nodes, 2u);
  const Uses uses(halves.graph);  // no output of a layer is an input of another
  for (const ValueId id : halves.graph.inputs) EXPECT_EQ(uses.producer[size_t(id)], -1);
  EXPECT_GE(halves.graph.inputs.size(), 2u);
}

TEST(LayerCosts, OnlySomeLayersAreConnectedWhereTheyFollowEachOther) {
  const Graph graph = Net();
  const std::vector<Layer> layers = LayersOf(graph);
  ASSERT_EQ(layers.size(), 3u);
  const auto names_of = [](const Graph& of) {
    std::vector<std::string> names;
    for (const Node& node : of.nodes) names.push_back(node.name);
    return names;
  };
  const Graph all = LayerGraphs(graph).Only(layers, {true, true, true});
  Verify(all);
  EXPECT_EQ(names_of(all), names_of(graph));
  EXPECT_EQ(all.inputs.size(), 1u);
  const Graph ends = LayerGraphs(graph).Only(layers, {true, false, true});
  Verify(ends);
  EXPECT_EQ(ends.inputs.size(), 2u) << "the model's, and what the layer between gives";
  EXPECT_EQ(ends.nodes.size(), graph.nodes.size() - size_t(layers[1].end - layers[1].begin));
  EXPECT_TRUE(LayerGraphs(graph).Only(layers, {false, false, false}).nodes.empty());
}

TEST(LayerCosts, HalvesByChannelsAreOfThoseThatHaveHalvesByRows) {
  const Graph graph = Net();
  const std::vector<Layer> layers = LayersOf(graph);
  const LayerHalves by_rows = LayerGraphs(graph).HalvesOf(layers),
                    by_channels = LayerGraphs(graph).HalvesByChannelsOf(layers);
  Verify(by_channels.graph);
  ASSERT_EQ(by_channels.parts.size(), layers.size());
  EXPECT_EQ(by_channels.parts[0], 0.5);
  for (const ValueId id : by_channels.graph.outputs) {
    const Shape& shape = by_channels.graph.value(id).shape;
    EXPECT_EQ(shape[1], 8) << ToString(shape);
    EXPECT_GT(shape[2], 1) << ToString(shape);
  }
  EXPECT_LT(by_rows.parts.back(), 1);  // of one row: divided by its features, and measured so already
  EXPECT_EQ(by_channels.parts.back(), 1);
}

// Two Convs of one input, joined, and a Conv behind the join: four layers.
Graph JoinNet() {
  Builder b;
  const ValueId x = b.Input({1, 8, 30, 30});
  Attributes axis;
  axis.Set("axis", int64_t(1));
  const ValueId joined = b.Op("Concat", {b.Conv(x, 8, 16, 3), b.Conv(x, 8, 16, 3)}, axis);
  b.Output(b.Conv(joined, 32, 8, 1));
  InferShapes(b.graph);
  return b.graph;
}

TEST(LayerCosts, AJoinTakesWhatItsNodeTookAndNothingWherePassesRemovedIt) {
  const Graph graph = JoinNet();
  const std::vector<Layer> layers = LayersOf(graph);
  ASSERT_EQ(layers.size(), 4u);
  const NodesUs copied{{"made", 1}, {"Conv0", 10}, {"Conv1", 20}, {"Concat2", 3}, {"made", 4}, {"Conv3", 5}};
  EXPECT_EQ(LayersUs(graph, layers, copied, NodesOfPasses::kCount), (std::vector<double>{11, 20, 7, 5}));
  EXPECT_EQ(LayersUs(graph, layers, copied, NodesOfPasses::kDoNotCount), (std::vector<double>{10, 20, 3, 5}));
  const NodesUs in_place{{"Conv0", 10}, {"Conv1", 20}, {"made", 4}, {"Conv3", 5}};
  EXPECT_EQ(LayersUs(graph, layers, in_place, NodesOfPasses::kCount), (std::vector<double>{10, 24, 0, 5}));
  EXPECT_EQ(LayersUs(graph, layers, {}, NodesOfPasses::kCount), std::vector<double>(4, 0));
}

std::vector<bool> Halved(const Graph& graph, const std::vector<double>& us) {
  std::vector<bool> halved;
  for (const Layer& layer : LayersToHalve(LayersOf(graph), us)) halved.push_back(layer.begin < layer.end);
  return halved;
}

TEST(LayerCosts, LargeLayersAreHalvedAndJoinsThatTakeAnything) {
  const Graph graph = JoinNet();
  EXPECT_EQ(Halved(graph, {1000, 1, 1, 1000}), (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(Halved(graph, {1000, 1, 0, 1000}), (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(Halved(graph, {0, 0, 0, 0}), std::vector<bool>(4, false));
}

TEST(LayerCosts, AJoinIsHalvedByItselfAndOneThatTakesNothingHasNoHalf) {
  const Graph graph = JoinNet();
  const std::vector<Layer> layers = LayersOf(graph);
  const LayerHalves with =
      LayerGraphs(graph).HalvesOf(LayersToHalve(layers, std::vector<double>{0, 0, 2, 0}));
  EXPECT_EQ(with.parts, (std::vector<double>{1, 1, 0.5, 1}));
  ASSERT_EQ(with.graph.nodes.size(), 1u);
  EXPECT_EQ(with.graph.nodes[0].name, "Concat2");
  const std::vector<double> us{10, 20, 0, 5};
  const LayerHalves without = LayerGraphs(graph).HalvesOf(LayersToHalve(layers, us));
  EXPECT_EQ(without.parts[2], 1);
  EXPECT_EQ(without.graph.nodes.size(), 3u);
  EXPECT_EQ(CostThrough(us[2], 0, without.parts[2]), LayerCost{});
}

TEST(LayerCosts, OfAJoinAloneAreThoseOfACopy) {
  const Graph graph = JoinNet();
  const Layer join = LayersOf(graph)[2];
  const GraphUs rows = [](const Graph& share) {
    EXPECT_EQ(CountOf(share, "Concat"), 1);
    return double(share.value(share.outputs[0]).shape[2]);
  };
  EXPECT_EQ(LayerGraphs(graph).CostOf(join, rows), (LayerCost{28, 0}));
  EXPECT_EQ(LayerGraphs(graph).CostOf(join, [](const Graph&) { return 0.0; }), LayerCost{});
}

TEST(LayerCosts, OfNoLayersThereIsNothing) {
  const Graph graph = Net();
  std::vector<Layer> layers = LayersOf(graph);
  for (Layer& layer : layers) layer.end = layer.begin;
  const LayerHalves halves = LayerGraphs(graph).HalvesOf(layers);
  EXPECT_TRUE(halves.graph.nodes.empty());
  EXPECT_EQ(halves.parts, std::vector<double>(layers.size(), 1));
}

TEST(LayerCosts, ALineThroughAWholeAndAPartEndsAtTheLeast) {
  EXPECT_EQ(CostThrough(10, 6, 0.5), (LayerCost{10, 2}));
  EXPECT_EQ(CostThrough(10, 4, 0.5), (LayerCost{10, 0}));    // noise: a part faster than its share
  EXPECT_EQ(CostThrough(10, 12, 0.5), (LayerCost{10, 10}));  // noise: a part slower than the whole
  EXPECT_EQ(CostThrough(10, 0, 1), (LayerCost{10, 10}));     // no part
  EXPECT_EQ(CostThrough(0, 3, 0.5), (LayerCost{0, 0}));      // a part of what takes nothing
}

}  // namespace
}  // namespace mete
