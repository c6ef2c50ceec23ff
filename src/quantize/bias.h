// Bias correction: rounding weights moves the mean of a product's outputs, and the bias moves it back.
#pragma once

#include <map>

#include "graph/graph.h"
#include "quantize/calibrate.h"
#include "quantize/places.h"
#include "quantize/insert.h"

namespace mete {

// The mean of each element of a value over the samples.
using Means = std::map<ValueId, Tensor>;

// Returns the graph with other biases for the products that compute on bytes. A product is linear, so the
// mean error of its outputs is the product of the mean input with the error of its weights; its mean over a
// channel is taken from the bias. `means` has the inputs of all products with weights.
Graph WithCorrectedBiases(const Graph& graph, const Places& places, const Scales& scales, const Means& means,
                          const Runs& runs);

}  // namespace mete
