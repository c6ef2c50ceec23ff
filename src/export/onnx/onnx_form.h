// A graph in the operators of ONNX alone: what Graph has more of becomes nodes and attributes of ONNX.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace mete {

// The domain of ONNX's operators of trees and labels. In a graph in ONNX form an operator has it in front.
inline constexpr std::string_view kMlDomain = "ai.onnx.ml";

// Returns the graph with a MatMul and an Add for each MatMul with a bias, with pools by Caffe's rule as pools
// of ONNX, and with mete.LabelEncoder as ai.onnx.ml.LabelEncoder; its bodies, too, whose outputs are then
// different values that nodes of the body compute.
Graph InOnnxForm(const Graph& graph);

// Gives each value a name of its own: those of inputs and outputs are the caller's, others may be empty or
// occur twice, as in networks of Caffe with layers in place. A capture of a body has the name of the value
// that it stands for, and constants of bodies that share memory with another constant have its name. No other
// value of a body has a name of another graph.
void NameValues(Graph& graph);

// Returns the types of the graph's outputs, also where the shapes on which they depend are known only at run
// time; kUnknown for those of operators whose types have more complicated rules.
std::vector<DType> OutputTypes(const Graph& graph);

// Throws one Error UNIMPLEMENTED that lists the nodes of a graph in ONNX form that ONNX does not have, and
// the outputs whose types are not known.
void CheckOnnxForm(const Graph& graph);

}  // namespace mete
