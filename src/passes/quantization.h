// What the parts of the pass fuse-quantized share: a file for each part.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace mete {

// One scale and one zero point of a whole tensor of bytes, constants of a QuantizeLinear or a
// DequantizeLinear. The number of a byte q is (q - zero) * scale.
struct Quantization {
  DType type = DType::kU8;
  float scale = 1;
  int zero = 0;
  ValueId scale_id = kNoValue, zero_id = kNoValue;  // no zero point: kNoValue

  bool operator==(const Quantization& other) const {
    return type == other.type && scale == other.scale && zero == other.zero;
  }
};

// Returns the quantization of a QuantizeLinear or a DequantizeLinear between f32 and bytes. Returns nothing
// for other nodes, for scales and zero points that are not constant or are not those of the whole tensor, and
// for scales that are not positive numbers.
std::optional<Quantization> QuantizationOf(const Graph& graph, const Node& node);

// Returns the zero point as a value; adds a constant 0 named after `name` if the node has none.
ValueId ZeroPointOf(Graph& graph, const Quantization& of, const std::string& name);

// Lets a DequantizeLinear of constants of 2 or 4 bits read them as bytes, of which the operators on bytes are
// made. Returns true if the graph changed.
bool ReadIntegersAsBytes(Graph& graph);  // quantization.cc

// Computes operators that only move elements, and maxima, on bytes: a DequantizeLinear moves behind them. For
// example, DequantizeLinear -> Reshape becomes Reshape -> DequantizeLinear. A QuantizeLinear behind a Concat
// moves before it. Returns true if the graph changed.
bool MoveDequantize(Graph& graph);  // move_dequantize.cc

// Replaces element-wise operators between two tensors of bytes whose result depends on one byte by a
// mete.ByteTable: DequantizeLinear -> Sigmoid -> QuantizeLinear, or x * sigmoid(x). A table that changes
// nothing is left out. Returns true if the graph changed.
bool FuseByteTables(Graph& graph);  // byte_tables.cc

// Replaces products, sums and pools between bytes by operators on bytes. Returns true if the graph has a
// DequantizeLinear, of which some may have to be folded now.
bool FuseByteOperators(Graph& graph);  // fuse_quantized.cc

// Replaces MatMulInteger -> Cast -> Mul -> [Add] of dynamically quantized networks by a
// mete.ScaledMatMulInteger. Returns true if the graph changed.
bool FuseScaledSums(Graph& graph);  // fuse_scaled_sums.cc

}  // namespace mete
