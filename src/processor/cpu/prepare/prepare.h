// Prepares the nodes that fast kernels compute: a function for each type of dispatch/dispatch.h, in a file
// for each of conv, transposed_conv, matrix, quantized, convert, bytes, pooling, elementwise, normalization,
// movement, resize, recurrence, reduction and choice.
#pragma once

#include <memory>

#include "dispatch/dispatch.h"
#include "processor/cpu/prepare/kernels.h"

namespace mete {

// The node, and what it is prepared with.
struct Preparation {
  const Graph& graph;
  const Node& node;
  Packer& packer;
  const KernelOptions& options;

  ThreadPool& pool() const { return packer.pool(); }
};

std::unique_ptr<PreparedNode> Prepare(const Convolution&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const TransposedConvolution&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Product&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const QuantizedConvolution&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Conversion&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const DynamicConversion&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Pooling&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Elementwise&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Selection&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Comparison&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const ByteTable&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const ByteOperation&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const BytePooling&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const NormalizedRows&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Lrn&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Transposition&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Join&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Resizing&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Recurrence&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const Reduction&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const TopChoice&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const BestChoice&, const Preparation&);
std::unique_ptr<PreparedNode> Prepare(const HalfCast&, const Preparation&);

}  // namespace mete
