// The families of operators: each function appends the launches that compute a node of a graph which has had
// all passes. It returns why no kernel computes the node, or an empty string.
#pragma once

#include <initializer_list>
#include <string>

#include "processor/opencl/share/lowering.h"

namespace mete::opencl {

std::string LowerConvolution(Lowering& to, const Node& node);    // Conv
std::string LowerPool(Lowering& to, const Node& node);           // MaxPool, GlobalAveragePool, ...
std::string LowerElementwise(Lowering& to, const Node& node);    // mete.Elementwise
std::string LowerBatchNorm(Lowering& to, const Node& node);      // BatchNormalization
std::string LowerProduct(Lowering& to, const Node& node);        // Gemm, MatMul, mete.MatMul
std::string LowerRows(Lowering& to, const Node& node);           // Softmax, LayerNormalization, ...
std::string LowerView(Lowering& to, const Node& node);           // Reshape, Identity, ...
std::string LowerCast(Lowering& to, const Node& node);           // Cast
std::string LowerTranspose(Lowering& to, const Node& node);      // Transpose
std::string LowerConcat(Lowering& to, const Node& node);         // Concat
std::string LowerSplit(Lowering& to, const Node& node);          // Split
std::string LowerSlice(Lowering& to, const Node& node);          // Slice
std::string LowerPad(Lowering& to, const Node& node);            // Pad
std::string LowerExpand(Lowering& to, const Node& node);         // Expand
std::string LowerTile(Lowering& to, const Node& node);           // Tile
std::string LowerSpaceAndDepth(Lowering& to, const Node& node);  // DepthToSpace, SpaceToDepth

// Returns whether the node's inputs of these numbers are f32 with known shapes.
bool AreF32(const Graph& graph, const Node& node, std::initializer_list<size_t> inputs);

// Returns an axis that may count from the end as one that counts from the begin.
inline int AxisOf(int64_t axis, const Shape& shape) { return int(axis < 0 ? axis + shape.rank() : axis); }

}  // namespace mete::opencl
