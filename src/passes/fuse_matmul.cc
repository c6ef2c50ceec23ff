// Lets products of two computed matrices, as in attention, read and write transposed matrices in place: a
// MatMul, the Transposes before and after it, and a multiplication by a scalar become one mete.MatMul
// (graph/fused.h, 8).
#include <numeric>

#include "base/fused.h"
#include "base/matmul_view.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

class MatmulFuser {
 public:
  explicit MatmulFuser(Graph& graph) : graph_(graph), uses_(graph) {}

  bool Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      if (IsPlainProduct(graph_.nodes[n])) Fuse(n);
    std::erase_if(graph_.nodes, [](const Node& n) { return n.op.empty(); });
    return changed_;
  }

 private:
  // Returns true for a product of two computed f32 operands with equal batch dimensions. A product with a
  // constant operand has nothing to gain, because the constant is packed in advance.
  bool IsPlainProduct(const Node& node) const {
    if (node.op != "MatMul" || node.inputs.size() != 2) return false;
    // Others than the permission to round (graph/fused.h, 10), which stays.
    if (node.attributes.size() > size_t(node.attributes.Has(kOperands))) return false;
    const Value &a = graph_.value(node.inputs[0]), &b = graph_.value(node.inputs[1]);
    if (a.type != DType::kF32 || b.type != DType::kF32 || a.is_constant() || b.is_constant()) return false;
    if (!a.shape.known() || !b.shape.known() || a.shape.Elements() == 0 || b.shape.Elements() == 0)
      return false;
    return a.shape.rank() >= 2 && a.shape.rank() == b.shape.rank() &&
           std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin());
  }

  // Returns the permutation of a Transpose, empty for null and other nodes.
  Ints PermOf(const Node* node) const {
    return node && node->op == "Transpose" ? node->attributes.IntList("perm") : Ints();
  }
  // Return the node that produces `id`, or its reader; null unless `id` has exactly one reader.
  Node* Producer(ValueId id) {
    const int p = uses_.producer[size_t(id)];
    return p >= 0 && uses_.OnlyReader(id) ? &graph_.nodes[size_t(p)] : nullptr;
  }
  Node* Reader(ValueId id) {
    return uses_.OnlyReader(id) ? &graph_.nodes[size_t(uses_.readers[size_t(id)][0])] : nullptr;
  }

  // The kernel requires that the columns of a and y, and the rows or the columns of b, are adjacent in
  // memory.
  void Fuse(size_t n) {
    const Node product = graph_.nodes[n];
    const size_t rank = size_t(graph_.value(product.inputs[0]).shape.rank());
    Attributes attributes;
    std::vector<ValueId> inputs = product.inputs;
    const auto stays_last = [&](const Ints& perm) {
      return perm.size() == rank && perm.back() == int64_t(rank) - 1;
    };
    const Ints perm_a = PermOf(Producer(inputs[0])), perm_b = PermOf(Producer(inputs[1]));
    if (stays_last(perm_a)) {
      attributes.Set(kPermA, perm_a);
      Take(inputs[0]);
    }
    if (stays_last(perm_b) || (perm_b.size() == rank && perm_b[rank - 2] == int64_t(rank) - 1)) {
      attributes.Set(kPermB, perm_b);
      Take(inputs[1]);
    }
    ValueId out = product.outputs[0];
    if (const auto scale = ScaleBehind(out)) {
      attributes.Set(kScale, *scale);
      Skip(out);
    }
    if (const Ints perm_y = PermOf(Reader(out)); stays_last(perm_y)) {
      attributes.Set(kPermY, perm_y);
      Skip(out);
    }
    if (attributes.empty()) return;
    if (product.attributes.Has(kOperands)) attributes.Set(kOperands, *product.attributes.Find(kOperands));
    Node& node = graph_.nodes[n];
    node.op = "mete.MatMul";
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    node.outputs[0] = out;
    changed_ = true;
  }

  // Returns the factor by which the only reader of `id` multiplies all its elements, or nothing.
  std::optional<float> ScaleBehind(ValueId id) {
    const Node* reader = Reader(id);
    if (!reader || !IsOneOf(reader->op, {"Mul", "Div"}) ||
        graph_.value(reader->outputs[0]).shape != graph_.value(id).shape)
      return std::nullopt;
    const bool first = reader->inputs[0] == id;
    if (reader->op == "Div" && !first) return std::nullopt;
    const auto number = ScalarOf(graph_, reader->inputs[first ? 1 : 0]);
    if (!number || (reader->op == "Div" && *number == 0)) return std::nullopt;
    return float(reader->op == "Div" ? 1 / *number : *number);
  }

  // Removes the Transpose that produces `id`, and sets `id` to its input.
  void Take(ValueId& id) {
    Node* transpose = Producer(id);
    transpose->op.clear();
    id = transpose->inputs[0];
  }

  // Removes the reader of `id`, and sets `id` to its output.
  void Skip(ValueId& id) {
    Node* reader = Reader(id);
    reader->op.clear();
    id = reader->outputs[0];
  }

  Graph& graph_;
  Uses uses_;
  bool changed_ = false;
};

}  // namespace

bool FuseMatMul(Graph& graph) { return MatmulFuser(graph).Run(); }

}  // namespace mete
