// Fuses the residual addition and the activation that follow a Conv, ConvTranspose, Gemm or MatMul into its
// epilogue (graph/fused.h, 1), and a table of bytes that follows a QLinearConv into it (9).
#include "base/fused.h"
#include "graph/traits.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

std::optional<Activation> OfActivation(const Graph& graph, const Node& node) {
  static constexpr FusedOp kSupported[] = {
      FusedOp::kRelu,      FusedOp::kClip, FusedOp::kLeakyRelu, FusedOp::kSigmoid, FusedOp::kHardSigmoid,
      FusedOp::kHardSwish, FusedOp::kTanh, FusedOp::kElu,       FusedOp::kGelu,    FusedOp::kSwish};
  Activation result = DefaultActivation(FusedOpOf(node.op));
  result.op = FusedOpOf(node.op);
  if (std::find(std::begin(kSupported), std::end(kSupported), result.op) == std::end(kSupported))
    return std::nullopt;
  const Attributes& a = node.attributes;
  result.alpha = a.Float("alpha", result.alpha);
  result.beta = a.Float("beta", result.beta);
  if (result.op == FusedOp::kGelu) result.alpha = a.String("approximate", "none") == "tanh" ? 1.f : 0.f;
  if (result.op == FusedOp::kClip) {
    const auto low = ScalarOf(graph, node.input(1)), high = ScalarOf(graph, node.input(2));
    if ((node.input(1) != kNoValue && !low) || (node.input(2) != kNoValue && !high)) return std::nullopt;
    if (low) result.alpha = float(*low);
    if (high) result.beta = float(*high);
  }
  return result;
}

class EpilogueFuser {
 public:
  explicit EpilogueFuser(Graph& graph) : graph_(graph), uses_(graph) {}

  bool Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].op == "Add") FuseResidual(n);
      else if (graph_.nodes[n].op == "mete.ByteTable") FuseTable(n);
      else FuseActivation(n);
    }
    std::erase_if(graph_.nodes, [](const Node& n) { return n.op.empty(); });
    return changed_;
  }

 private:
  // Returns the product that produces `id`, if its epilogue can still take an operator; null otherwise.
  Node* Product(ValueId id) {
    if (id == kNoValue || !IsF32(graph_, id)) return nullptr;
    const int p = uses_.producer[size_t(id)];
    if (p < 0 || !uses_.OnlyReader(id)) return nullptr;
    Node& node = graph_.nodes[size_t(p)];
    return TraitsOf(node.op).epilogue && !node.attributes.Has("activation") ? &node : nullptr;
  }

  void FuseResidual(size_t n) {
    const Node add = graph_.nodes[n];
    // If both operands are products, the later one takes the addition, because the other is done by then.
    const bool second_later = uses_.producer[size_t(add.inputs[1])] > uses_.producer[size_t(add.inputs[0])];
    for (size_t at : {size_t(second_later), size_t(!second_later)}) {
      const ValueId data = add.inputs[at], other = add.inputs[1 - at];
      Node* product = Product(data);
      if (!product || data == other || product->attributes.Has("residual")) continue;
      if (!IsF32(graph_, other) || graph_.value(other).shape != graph_.value(data).shape ||
          IsConstant(graph_, other))
        continue;
      product->inputs.resize(3, kNoValue);
      product->inputs.push_back(other);
      product->attributes.Set("residual", int64_t{1});
      TakeOver(*product, uses_.producer[size_t(data)], n);
      return;
    }
  }

  void FuseActivation(size_t n) {
    const Node& node = graph_.nodes[n];
    if (node.inputs.empty() || node.outputs.size() != 1) return;
    Node* product = Product(node.inputs[0]);
    if (!product) return;
    const auto activation = OfActivation(graph_, node);
    if (!activation) return;
    product->attributes.Set("activation", std::string(node.op));
    product->attributes.Set("activation_alpha", activation->alpha);
    product->attributes.Set("activation_beta", activation->beta);
    TakeOver(*product, uses_.producer[size_t(node.inputs[0])], n);
  }

  // A convolution of bytes sends its output through a table.
  void FuseTable(size_t n) {
    const ValueId in = graph_.nodes[n].inputs[0];
    const int p = uses_.producer[size_t(in)];
    if (p < 0 || !uses_.OnlyReader(in)) return;
    Node& conv = graph_.nodes[size_t(p)];
    if (conv.op != "QLinearConv" || conv.input(kByteTableInput) != kNoValue) return;
    conv.inputs.resize(kByteTableInput, kNoValue);
    conv.inputs.push_back(graph_.nodes[n].inputs[1]);
    TakeOver(conv, p, n);
  }

  void TakeOver(Node& product, int index, size_t fused) {
    product.outputs[0] = graph_.nodes[fused].outputs[0];
    uses_.producer[size_t(product.outputs[0])] = index;
    graph_.nodes[fused].op.clear();
    changed_ = true;
  }

  Graph& graph_;
  Uses uses_;
  bool changed_ = false;
};

}  // namespace

bool FuseEpilogues(Graph& graph) { return EpilogueFuser(graph).Run(); }

}  // namespace mete
