// Decides which fast kernel computes a node. processor/cpu prepares nodes from the answer, and costs/ counts
// their work from it. The answer depends on the graph and the options alone, never on the machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dispatch/bytes.h"
#include "dispatch/casts.h"
#include "dispatch/choices.h"
#include "dispatch/convolutions.h"
#include "dispatch/elementwise.h"
#include "dispatch/movement.h"
#include "dispatch/options.h"
#include "dispatch/pools.h"
#include "dispatch/products.h"
#include "dispatch/quantized.h"
#include "dispatch/recurrence.h"
#include "dispatch/reductions.h"
#include "dispatch/resize.h"
#include "dispatch/rows.h"
#include "graph/graph.h"

namespace mete {

// What a fast kernel needs to know of a node: one type for each family of kernels.
using FastKernel = std::variant<Convolution, Product, QuantizedConvolution, Conversion, Pooling, Elementwise,
                                NormalizedRows, Lrn, Transposition, Join, DynamicConversion, ByteTable,
                                ByteOperation, BytePooling, Resizing, Recurrence, TransposedConvolution,
                                Selection, Comparison, Reduction, TopChoice, BestChoice, HalfCast>;

// Returns nothing if no fast kernel computes the node, but the reference; `why` then receives the reason.
std::optional<FastKernel> FastKernelOf(const Graph& graph, const Node& node, const DispatchOptions& options,
                                       std::string* why);

// Returns the kernels' names without the target ("conv_f32"), of which processor/cpu takes one. Only some
// convolutions have more than one.
std::vector<std::string> KernelNames(const FastKernel& fast);

// A family of fast kernels: a row of the table in dispatch.cc. The nodes that its test computes stand in
// src/processor/cpu/prepare/nodes/<name>.txt, those of the benchmark in bench/kernels/nodes/<name>.txt.
struct KernelFamily {
  const char* name;
  std::vector<std::string_view> operators;
  std::optional<FastKernel> (*of)(const Graph&, const Node&, const DispatchOptions&, std::string* why);
};

// Each operator belongs to at most one family.
const std::vector<KernelFamily>& KernelFamilies();
const KernelFamily* FamilyOf(std::string_view op);  // null if no family computes the operator

}  // namespace mete
