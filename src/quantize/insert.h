// Writes a quantization into a graph of floats, as QuantizeLinear and DequantizeLinear nodes (QDQ).
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"
#include "quantize/places.h"
#include "quantize/scales.h"

namespace mete {

// The scales of the channels of a product's weights, by the value that the weights are.
using WeightScales = std::map<ValueId, std::vector<float>>;

// What a graph is quantized with.
struct Scales {
  std::vector<ActivationScale> activations;  // one for each of Places::measured
  const WeightScales* weights = nullptr;     // of all products with weights
};

WeightScales FindWeightScales(const Graph& graph);

// Returns the graph with a QuantizeLinear and a DequantizeLinear behind each value with a scale, and with i8
// weights and i32 biases, each behind a DequantizeLinear, in the products that compute on bytes. A Relu or
// Clip that saturation replaces is left out. Values keep their
// names.
Graph InsertQuantization(const Graph& graph, const Places& places, const Scales& scales);

// Returns the weights of a product as its i8 weights will be, for an input with this scale.
QuantizedWeights WeightsOf(const Graph& graph, const Node& product, const WeightScales& scales,
                           float input_scale);

// Returns the name of the value that the graph above has, dequantized, for the value of this name.
std::string DequantizedName(const std::string& value);

}  // namespace mete
