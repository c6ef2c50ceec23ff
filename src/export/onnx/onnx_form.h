// A graph in the operators of ONNX alone: what Graph has more of becomes nodes and attributes of ONNX.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

// Returns the graph with a MatMul and an Add for each MatMul with a bias, and with pools by Caffe's rule as
// pools of ONNX.
Graph InOnnxForm(const Graph& graph);

// Throws one Error UNIMPLEMENTED that lists the nodes of a graph in ONNX form that ONNX does not have.
void CheckOnnxForm(const Graph& graph);

}  // namespace mete
