// Writes a quantization into a graph of floats, as QuantizeLinear and DequantizeLinear nodes (QDQ).
#pragma once

#include <span>

#include "graph/graph.h"
#include "quantize/places.h"
#include "quantize/scales.h"

namespace mete {

// Returns the graph with a QuantizeLinear and a DequantizeLinear behind each value with a scale, and with i8
// weights and i32 biases, each behind a DequantizeLinear, in the products that compute on bytes. A Relu or
// Clip that saturation replaces is left out. `scales` has one for each of places.measured. Values keep their
// names.
Graph InsertQuantization(const Graph& graph, const Places& places, std::span<const ActivationScale> scales);

// Returns the weights of a product as its i8 weights will be, for an input with this scale.
QuantizedWeights WeightsOf(const Graph& graph, const Node& product, float input_scale);

// Returns the name of the value that the graph above has, dequantized, for the value of this name.
std::string DequantizedName(const std::string& value);

}  // namespace mete
