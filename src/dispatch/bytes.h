// Selects the operators between tensors of bytes (graph/fused.h, 9) that the fast kernels compute, and
// describes each in the kernels' terms. As in dispatch/products.h, the result never depends on the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "kernels/fast/bytes/byte_elementwise.h"
#include "kernels/fast/bytes/byte_pool.h"

namespace mete {

struct ByteTable {
  int64_t elements = 0;

  std::string kernel() const { return "table_bytes"; }
};

// A mete.QLinearAdd or a mete.QLinearMul.
struct ByteOperation {
  ByteBinary binary;
  // The output's elements are images x rows x length. An operand has one element for each, or it has one row
  // for each image or for all of them (its step is 0), or one element.
  int64_t images = 1, rows = 1, length = 1;
  struct Operand {
    bool scalar = false;
    int64_t image_step = 0, row_step = 0;  // elements
  };
  Operand a, b;

  std::string kernel() const { return binary.product ? "mul_bytes" : "add_bytes"; }
};

struct BytePooling {
  enum class Kind { kMax, kAverage, kGlobalAverage };
  Kind kind = Kind::kMax;
  PoolShape shape;  // not set for kGlobalAverage
  ByteScale x, y;

  std::string kernel() const { return kind == Kind::kGlobalAverage ? "global_pool_bytes" : "pool_bytes"; }
};

// These functions return nothing if only the reference kernel can compute the node; `why` then receives the
// reason.
std::optional<ByteTable> ByteTableOf(const Graph& graph, const Node& node, std::string* why);
std::optional<ByteOperation> ByteOperationOf(const Graph& graph, const Node& node, std::string* why);
// Of a mete.QLinearAveragePool, a mete.QLinearGlobalAveragePool, or a MaxPool of bytes.
std::optional<BytePooling> BytePoolingOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
