// Where a graph of floats becomes one of bytes: which nodes compute on bytes, and which values are quantized,
// with one scale for those that an operator joins.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct Places {
  static constexpr int kFloat = -1;
  // For each node: whether it computes on bytes (products, sums, averages). Nodes that only move elements,
  // and element-wise ones between two quantizations, follow from the values around them.
  std::vector<bool> computes;
  // For each value: the number of its scale, or kFloat.
  std::vector<int> scale_of;
  // For each scale: the values from whose elements its range follows. The others with this scale only have
  // elements of these.
  std::vector<std::vector<ValueId>> measured;
};

// `kept` names nodes that shall compute on floats.
Places FindPlaces(const Graph& graph, const std::set<std::string>& kept);

// Returns whether the node could compute on bytes: a product with constant weights, a product, sum or
// product by elements of two computed values, or an average.
bool IsQuantizable(const Graph& graph, const Node& node);

// Returns whether the node is a product with constant weights, and the axis of its weights' output channels.
bool HasWeights(const Graph& graph, const Node& node);
int WeightAxisOf(const Node& node);

// Returns whether the outputs have elements of the inputs only: a scale of the inputs is one of the outputs.
bool KeepsScale(const Node& node);

}  // namespace mete
