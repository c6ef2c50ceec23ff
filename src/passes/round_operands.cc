// Lets the kernels round the operands of products (graph/fused.h, 10).
#include "base/fused.h"
#include "base/precision.h"
#include "graph/traits.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// A depthwise convolution does not multiply enough with each element that it reads.
bool IsDepthwise(const Graph& graph, const Node& node) {
  return node.op == "Conv" && node.attributes.Int("group", 1) > 1 &&
         graph.value(node.inputs[1]).shape[1] == 1;
}

bool MayRound(const Graph& graph, const Node& node, Precision precision) {
  if (!IsOneOf(node.op, {"Conv", "Gemm", "MatMul"}) || graph.value(node.inputs[0]).type != DType::kF32)
    return false;
  if (precision == Precision::kBf16) return !IsDepthwise(graph, node) && !node.attributes.Has(kSumPiece);
  return node.op != "Conv" && graph.value(node.inputs[1]).is_constant();
}

}  // namespace

bool RoundOperands(Graph& graph, Precision precision) {
  bool changed = false;
  for (Node& node : graph.nodes) {
    if (precision == Precision::kF32 || !MayRound(graph, node, precision)) continue;
    node.attributes.Set(kOperands, std::string(Name(precision)));
    changed = true;
  }
  return changed;
}

}  // namespace mete
