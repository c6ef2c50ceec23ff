// Lets the kernels round the operands of products to bf16 (graph/fused.h, 10).
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

}  // namespace

bool RoundOperands(Graph& graph) {
  bool changed = false;
  for (Node& node : graph.nodes) {
    if (!IsOneOf(node.op, {"Conv", "Gemm", "MatMul"}) || graph.value(node.inputs[0]).type != DType::kF32 ||
        IsDepthwise(graph, node) || node.attributes.Has(kSumPiece))
      continue;
    node.attributes.Set(kOperands, std::string(Name(Precision::kBf16)));
    changed = true;
  }
  return changed;
}

}  // namespace mete
