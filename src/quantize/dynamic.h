// Products whose activations get their scale in each run, for transformers.
#pragma once

#include <set>
#include <string>

#include "graph/graph.h"

namespace mete {

// Returns whether the network multiplies by a Softmax, as attention does: its activations have outliers that
// differ from input to input, so that scales of a calibration cost more than scales of the run.
bool HasAttention(const Graph& graph);

// Returns the graph with i8 weights, a scale for each column, in every MatMul and Gemm with constant weights:
// DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul. All else, such as convolutions, Gelu,
// LayerNormalization and Softmax, stays in floats. `kept` names products that stay in floats. Throws Error
// INVALID_ARGUMENT for a graph that is quantized already or has no such product.
Graph QuantizeDynamically(const Graph& graph, const std::set<std::string>& kept);

}  // namespace mete
