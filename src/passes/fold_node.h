// Infers and evaluates one node of a graph, and compares results: the common part of constant folding and of
// the walk over shapes.
#pragma once

#include <functional>

#include "graph/graph.h"
#include "kernels/reference/reference.h"

namespace mete {

// Writes the inferred types and shapes to the node's outputs. Returns true if one of them has changed. Errors
// as those of InferNode().
bool InferOutputs(Graph& graph, const Node& node, int64_t max_bytes = int64_t(1) << 33);

// Returns true if the tensors have the same type, shape and bytes.
bool SameContents(const Tensor& a, const Tensor& b);

// Returns true for Shape and Size of a value of known shape: they need the shape of their input alone.
bool NeedsNoData(const Graph& graph, const Node& node);

// Returns true if the node's outputs follow from constants, or from shapes alone.
bool IsComputable(const Graph& graph, const Node& node);

// Evaluates a computable node and makes its outputs constants. `may_allocate` is asked before memory is taken
// for an output whose shape only the kernel knows; null: such memory is not limited. Throws an Error that
// names the node.
using MayAllocate = std::function<bool(const Shape&, DType)>;
void EvaluateNode(Graph& graph, const Node& node, RefKernel kernel, Scratch& scratch,
                  const MayAllocate& may_allocate = nullptr);

}  // namespace mete
