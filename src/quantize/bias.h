// Bias correction: rounding weights moves the mean of a product's outputs, and the bias moves it back.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"
#include "quantize/calibrate.h"
#include "quantize/insert.h"
#include "quantize/places.h"

namespace mete {

// The mean of each element of a value over the samples.
using Means = std::map<ValueId, Tensor>;

// The mean error of each output channel of a product, by the number of its node.
using BiasErrors = std::map<size_t, std::vector<double>>;

// A product is linear, so the mean error of its outputs is the product of the mean input with the error of
// its weights. `means` has the inputs of the products that `places` has on bytes. A MatMul has no bias.
BiasErrors FindBiasErrors(const Graph& graph, const Places& places, const WeightScales& scales,
                          const Means& means, const Runs& runs);

// Returns the graph with biases that take the errors back, in the products that `places` has on bytes.
Graph WithCorrectedBiases(const Graph& graph, const Places& places, const BiasErrors& errors);

}  // namespace mete
