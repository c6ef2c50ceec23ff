#include "passes/quantization.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

class ScaledSumFuser {
 public:
  explicit ScaledSumFuser(Graph& graph) : graph_(graph), uses_(graph) {}

  bool Run() {
    bool changed = false;
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      if (graph_.nodes[n].op == "MatMulInteger") changed |= Visit(n);
    std::erase_if(graph_.nodes, [](const Node& node) { return node.op.empty(); });
    return changed;
  }

 private:
  Node* OnlyReader(ValueId id, std::string_view op) {
    if (!uses_.OnlyReader(id)) return nullptr;
    Node& reader = graph_.nodes[size_t(uses_.readers[size_t(id)][0])];
    return reader.op == op ? &reader : nullptr;
  }

  // Returns the other operand of a node of two, if it has one element or one for each of `columns`; kNoValue
  // if not.
  ValueId OtherOperand(const Node& node, ValueId operand, int64_t columns) const {
    const ValueId other = node.inputs[node.inputs[0] == operand ? 1 : 0];
    if (other == operand || !IsF32(graph_, other)) return kNoValue;
    const Shape& shape = graph_.value(other).shape;
    return shape == Shape() || shape == Shape{1} || shape == Shape{columns} ? other : kNoValue;
  }

  bool Visit(size_t n) {
    Node& product = graph_.nodes[n];
    const Shape& y = graph_.value(product.outputs[0]).shape;
    if (!y.known() || y.rank() == 0) return false;
    Node* cast = OnlyReader(product.outputs[0], "Cast");
    if (!cast || !IsF32(graph_, cast->outputs[0])) return false;
    Node* scaled = OnlyReader(cast->outputs[0], "Mul");
    const ValueId scale = scaled ? OtherOperand(*scaled, cast->outputs[0], y.back()) : kNoValue;
    if (scale == kNoValue) return false;
    Node* last = scaled;
    ValueId bias = kNoValue;
    if (Node* sum = OnlyReader(scaled->outputs[0], "Add")) {
      bias = OtherOperand(*sum, scaled->outputs[0], y.back());
      if (bias != kNoValue) last = sum;
    }
    // The scale may be computed behind the product, so the last of its nodes stays.
    product.inputs.resize(4, kNoValue);
    product.inputs.push_back(scale);
    if (bias != kNoValue) product.inputs.push_back(bias);
    Node fused{product.name, "mete.ScaledMatMulInteger", product.inputs, last->outputs, {}};
    for (Node* node : {&product, cast, scaled, last}) node->op.clear();
    *last = std::move(fused);
    return true;
  }

  Graph& graph_;
  const Uses uses_;
};

}  // namespace

bool FuseScaledSums(Graph& graph) { return ScaledSumFuser(graph).Run(); }

}  // namespace mete
