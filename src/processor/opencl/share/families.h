// The families of operators: each function appends the launches that compute a node of a graph which has had
// all passes. It returns why no kernel computes the node, or an empty string.
//
// An operator has a row in the table of lower.cc, and lines in nodes/, one for each form that is computed and
// for each reason why one is not. lower_test.cc computes them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "processor/opencl/share/lowering.h"

namespace mete::opencl {

std::string LowerConvolution(Lowering& to, const Node& node);            // Conv
std::string LowerTransposedConvolution(Lowering& to, const Node& node);  // ConvTranspose
std::string LowerPool(Lowering& to, const Node& node);                   // MaxPool, GlobalAveragePool, ...
std::string LowerElementwise(Lowering& to, const Node& node);            // mete.Elementwise
std::string LowerFunction(Lowering& to, const Node& node);               // Max, Clip, Selu, ...
std::string LowerBatchNorm(Lowering& to, const Node& node);              // BatchNormalization
std::string LowerProduct(Lowering& to, const Node& node);                // Gemm, MatMul, mete.MatMul
std::string LowerAttention(Lowering& to, const Node& node);              // Attention
std::string LowerRows(Lowering& to, const Node& node);                   // Softmax, LayerNormalization, ...
std::string LowerInstanceNorm(Lowering& to, const Node& node);           // InstanceNormalization
std::string LowerGroupNorm(Lowering& to, const Node& node);              // GroupNormalization
std::string LowerLrn(Lowering& to, const Node& node);                    // LRN
std::string LowerResize(Lowering& to, const Node& node);                 // Resize
std::string LowerReduce(Lowering& to, const Node& node);                 // ReduceMean, ReduceSum, ...
std::string LowerArg(Lowering& to, const Node& node);                    // ArgMax, ArgMin
std::string LowerGather(Lowering& to, const Node& node);                 // Gather
std::string LowerByteProduct(Lowering& to, const Node& node);            // QLinearConv, QLinearMatMul
std::string LowerScaledSums(Lowering& to, const Node& node);             // mete.ScaledConvInteger, ...
std::string LowerByteOperation(Lowering& to, const Node& node);          // mete.QLinearAdd, mete.QLinearMul
std::string LowerByteTable(Lowering& to, const Node& node);              // mete.ByteTable
std::string LowerBytePool(Lowering& to, const Node& node);       // mete.QLinearAveragePool, MaxPool of bytes
std::string LowerLevels(Lowering& to, const Node& node);         // QuantizeLinear, DequantizeLinear
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

// Returns the elements of a constant list of i64 or i32; nothing for other values.
std::optional<Ints> ListOf(const Graph& graph, ValueId id);

// Returns an axis that may count from the end as one that counts from the begin.
inline int AxisOf(int64_t axis, const Shape& shape) { return int(axis < 0 ? axis + shape.rank() : axis); }

}  // namespace mete::opencl
