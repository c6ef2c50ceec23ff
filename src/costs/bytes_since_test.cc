#include "costs/bytes_since.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

// Makes a chain of nodes that each move 1000 bytes; the last node reads the network's input too.
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

double Since(const Graph& graph, const Node& node, size_t input, double run_bytes, double enough = 1e9) {
  return BytesSince(graph, node, node.inputs[input], run_bytes, enough);
}

TEST(BytesSince, CountsHalfOfWhatTouchedItAndAllBetween) {
  const Graph graph = ChainOf(100);
  EXPECT_EQ(Since(graph, graph.nodes.back(), 0, 0), 500 + 750);
  EXPECT_EQ(Since(graph, graph.nodes.back(), 1, 0), 100 * 1000 + 750);
}

TEST(BytesSince, WhatNoNodeHasTouchedIsFromTheRunBefore) {
  const Graph graph = ChainOf(3);
  EXPECT_EQ(Since(graph, graph.nodes[0], 0, 1e6), 1e6);
  EXPECT_EQ(Since(graph, graph.nodes[0], 0, 0), 500);
  EXPECT_EQ(Since(graph, graph.nodes.back(), 1, 1e6), 1e6);
}

TEST(BytesSince, SeesThroughViews) {
  Graph graph;
  const ValueId input = graph.AddValue("input", DType::kF32, {125}),
                view = graph.AddValue("view", DType::kF32, {5, 25});
  graph.AddNode("Reshape", "view", {input}, {view});
  for (const char* name : {"y", "z"})
    graph.AddNode("Relu", name, {view}, {graph.AddValue(name, DType::kF32, {5, 25})});
  EXPECT_EQ(Since(graph, graph.nodes[1], 0, 1e6), 1e6);
  EXPECT_EQ(Since(graph, graph.nodes[2], 0, 1e6), 1000);
}

TEST(BytesSince, LooksNoFurtherBackThanIsAskedFor) {
  const Graph graph = ChainOf(100);
  EXPECT_EQ(Since(graph, graph.nodes.back(), 1, 0, 5000), 5 * 1000 + 750);
}

TEST(BytesOfRun, AreAllConstantsAndWhatTheLargestNodeComputesBesideThem) {
  Graph graph = ChainOf(2);
  EXPECT_EQ(BytesOfRun(graph), 1500);  // the last node reads two values and writes one
  const ValueId w = graph.AddValue("w", DType::kF32, {1000});
  graph.value(w).constant = Tensor(DType::kF32, {1000});
  graph.AddNode("Sum", "weighted", {graph.nodes[0].inputs[0], w}, {graph.AddValue("z", DType::kF32, {125})});
  EXPECT_EQ(BytesOfRun(graph), 4000 + 1500);  // the new node moves only 1000 bytes besides its weights
}

// Only the rows of a table that are read count, and a view moves nothing.
TEST(BytesOfRun, AreNotThoseThatNobodyMoves) {
  Graph graph;
  const ValueId table = graph.AddValue("table", DType::kF32, {1000, 25}),
                rows = graph.AddValue("rows", DType::kI64, {2});
  graph.value(table).constant = Tensor(DType::kF32, {1000, 25});
  const ValueId y = graph.AddValue("y", DType::kF32, {2, 25}),
                view = graph.AddValue("view", DType::kF32, {50});
  graph.AddNode("Gather", "gather", {table, rows}, {y});
  graph.AddNode("Reshape", "view", {y}, {view});
  EXPECT_EQ(BytesOfRun(graph), 16 + 2 * 200);
}

}  // namespace
}  // namespace mete
