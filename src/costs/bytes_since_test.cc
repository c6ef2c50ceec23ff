#include "costs/bytes_since.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

// Nodes that each read and write 1000 bytes, one after the other; the last one reads the network's input as well.
Graph ChainOf(int nodes) {
  Graph graph;
  const ValueId input = graph.AddValue("input", DType::kF32, {125});
  ValueId x = graph.AddValue("x", DType::kF32, {125});
  for (int i = 0; i < nodes; ++i) {
    const ValueId y = graph.AddValue("y" + std::to_string(i), DType::kF32, {125});
    graph.AddNode("Relu", "node" + std::to_string(i), {x}, {y});
    x = y;
  }
  graph.AddNode("Add", "last", {x, input}, {graph.AddValue("sum", DType::kF32, {125})});
  return graph;
}

TEST(BytesSince, CountsAllSinceTheBeginningForAnInput) {
  const Graph graph = ChainOf(100);
  EXPECT_EQ(BytesSince(graph, graph.nodes.back(), graph.nodes.back().inputs[1], 1e9), 100 * 1000 + 750);
  EXPECT_EQ(BytesSince(graph, graph.nodes.back(), graph.nodes.back().inputs[0], 1e9), 500 + 750);
}

TEST(BytesSince, LooksNoFurtherBackThanIsAskedFor) {
  const Graph graph = ChainOf(100);
  EXPECT_EQ(BytesSince(graph, graph.nodes.back(), graph.nodes.back().inputs[1], 5000), 5 * 1000 + 750);
}

}  // namespace
}  // namespace mete
