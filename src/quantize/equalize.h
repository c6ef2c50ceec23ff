// Cross-layer equalisation: the channels between two products get ranges of one size.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

// The largest magnitude of each channel (dimension 1) of a value.
using ChannelMagnitudes = std::map<ValueId, std::vector<float>>;

// A value between two products, perhaps behind a Relu, that nothing else reads: the output channels of one
// product may be divided by any positive numbers, if the weights of the other are multiplied by them.
struct EqualizablePair {
  size_t first = 0, second = 0;  // nodes
  ValueId between = kNoValue;    // the input of the second one
};
std::vector<EqualizablePair> EqualizablePairs(const Graph& graph);

// Returns the graph with weights and biases scaled. All channels have one scale as activations, and one in
// each row of the second product's weights, so that a channel's factor is the square root of the ratio of its
// largest activation to its largest weight there: neither is then lost between the levels of the others'.
// `magnitudes` has the values between the pairs, and is scaled as they are.
Graph Equalized(const Graph& graph, const std::vector<EqualizablePair>& pairs,
                const ChannelMagnitudes& magnitudes);

}  // namespace mete
