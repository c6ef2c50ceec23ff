// Control flow: If, Loop and Scan, whose bodies are graphs in attributes of the node.
//
// The inputs of a body are the parameters that ONNX gives it, and behind them its captures: the values of the
// outer graph that it reads. The captures are the last inputs of the node, too, in the same order, so
// whatever follows the inputs of nodes (sorting, memory, division) follows them. Attribute `mete_captures` is
// their number; only importers and passes write it. Both branches of an If have the same captures. For
// example, an If on `c` whose branches are x + y and x is If(c, x, y) {mete_captures=2}, with two branches of
// the inputs (x, y). A constant of the outer graph is a constant of the body and no capture.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/node_names.h"

namespace mete {

inline constexpr std::string_view kCaptures = "mete_captures";
// The precision (base/precision.h) with which the passes of the bodies run; absent: f32. The pass
// round-operands writes it.
inline constexpr std::string_view kBodyPrecision = "mete_precision";

// Returns the names of the attributes that have the bodies of an operator; empty if it is no control flow.
std::span<const std::string_view> BodyNames(std::string_view op);
inline bool IsControlFlow(std::string_view op) { return !BodyNames(op).empty(); }

// Whether the node, or one in its bodies, is of an operator that the program has registered.
bool HasCustomOperator(const Node& node);

// Returns for each value the one that a chain of Identity hands on as it; the value itself if none does.
std::vector<ValueId> OriginsOf(const Graph& body);

// Returns the number of the node's inputs that are captures.
size_t CapturesOf(const Attributes& attributes);

// Returns the bytes of the constants of a graph and its bodies; those that share memory count once.
int64_t ConstantBytesWithBodies(const Graph& graph);

// Appends the nodes of a body to `graph`. `inputs`: the values of `graph` that stand for the body's inputs;
// `outputs`: the values that the appended nodes compute; kNoValue stands for an output without a reader. The
// names of the appended nodes and values begin with `prefix`. The graph is to be sorted afterwards.
void AppendBody(Graph& graph, const Graph& body, std::span<const ValueId> inputs,
                std::span<const ValueId> outputs, const std::string& prefix, NodeNames& names);

// Returns the body with the types, shapes and, where they have data and are small, the elements of these
// inputs, and with the types and shapes that follow. The copy is for questions about shapes: inputs with data
// are constants in it. Errors as those of InferShapes().
Graph WithInputs(const Graph& body, std::span<const ConstView> inputs);

}  // namespace mete
