// Lets the kernels round the operands of products (graph/fused.h, 10), and the passes of bodies do so.
#include <algorithm>
#include <cmath>
#include <span>

#include "base/fused.h"
#include "base/precision.h"
#include "base/tensor_source.h"
#include "graph/bodies.h"
#include "graph/fused.h"
#include "graph/traits.h"
#include "kernels/fast/half/half_conv.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// A depthwise convolution does not multiply enough with each element that it reads.
bool IsDepthwise(const Graph& graph, const Node& node) {
  if (node.op != "Conv" && node.op != "ConvTranspose") return false;
  const int64_t groups = node.attributes.Int("group", 1);
  const Shape& weights = graph.value(node.inputs[1]).shape;
  // Both have an input channel for each group.
  return groups > 1 && (node.op == "Conv" ? weights[1] == 1 : weights[0] == groups);
}

// Returns whether all weights, times Gemm's alpha, are numbers of f16 once they are rounded: larger ones
// would become infinite.
bool FitsF16(const Tensor& weights, float alpha) {
  constexpr int64_t kPart = 4096;
  float part[kPart];
  for (int64_t first = 0; first < weights.elements(); first += kPart) {
    const int64_t count = std::min(kPart, weights.elements() - first);
    ReadElements(weights, first, count, part);
    // No comparison holds for a NaN.
    if (!std::all_of(part, part + count, [&](float w) { return std::abs(alpha * w) <= kMostF16; }))
      return false;
  }
  return true;
}

bool IsRecurrent(const Node& node) { return ArithmeticOf(node.op) == Arithmetic::kRecurrent; }

// Returns the weights of a node: recurrent nodes have those of the inputs and those of the states.
std::span<const ValueId> WeightsOf(const Node& node) {
  return std::span(node.inputs).subspan(1, IsRecurrent(node) ? 2 : 1);
}

}  // namespace

bool MayRound(const Graph& graph, const Node& node, Precision precision) {
  if (!TakesOperands(graph, node)) return false;
  if (UsualPrecision(node) == Precision::kI32) return precision == Precision::kF32;
  if (precision == Precision::kF32 || precision == Precision::kI32) return false;
  const bool recurrent = IsRecurrent(node);
  if (IsHalf(precision) && (IsDepthwise(graph, node) || node.attributes.Has(kSumPiece))) return false;
  // No kernel rounds recurrent weights that are computed.
  if (precision == Precision::kBf16 && !recurrent) return true;
  const auto fits = [&](ValueId id) {
    const Value& weights = graph.value(id);
    if (!weights.is_constant()) return false;
    return precision != Precision::kF16 || FitsF16(weights.constant, node.attributes.Float("alpha", 1));
  };
  const std::span<const ValueId> weights = WeightsOf(node);
  return (IsHalf(precision) || recurrent || IsOneOf(node.op, {"Gemm", "MatMul"})) &&
         std::all_of(weights.begin(), weights.end(), fits);
}

bool RoundOperands(Graph& graph, Precision precision, const std::map<std::string, Precision>& of_nodes) {
  bool changed = false;
  for (Node& node : graph.nodes) {
    if (IsControlFlow(node.op) && precision != Precision::kF32 && of_nodes.empty()) {
      node.attributes.Set(kBodyPrecision, std::string(Name(precision)));
      changed = true;
      continue;
    }
    const auto of_node = of_nodes.find(node.name);
    // What the user asks for all nodes is for products of floats; one of bytes is named.
    const bool all = of_nodes.empty() && UsualPrecision(node) == Precision::kF32;
    const Precision wanted = all                         ? precision
                             : of_node == of_nodes.end() ? UsualPrecision(node)
                                                         : of_node->second;
    if (wanted == UsualPrecision(node) || !MayRound(graph, node, wanted)) continue;
    node.attributes.Set(kOperands, std::string(Name(wanted)));
    changed = true;
  }
  return changed;
}

}  // namespace mete
