#include "plan/devices/layer_costs.h"

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
}

}  // namespace
}  // namespace mete
