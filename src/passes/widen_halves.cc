// Lets nodes compute in f32 what the file has in f16 or bf16: the kernels are those of f32, and nothing is
// rounded between two nodes. A Cast stands where a half comes from a graph's input or goes to an output, or
// to a node that keeps its halves. For example, x f16 -> Relu -> y f16 becomes x -> Cast -> Relu in f32 ->
// Cast -> y.
#include <algorithm>
#include <iterator>

#include "base/tensor_source.h"
#include "graph/bodies.h"
#include "graph/node_names.h"
#include "graph/operators.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

bool IsHalf(DType type) { return type == DType::kF16 || type == DType::kBF16; }

class Widener {
 public:
  explicit Widener(Graph& graph) : graph_(graph), names_(graph), wide_(graph.values.size(), kNoValue) {}

  bool Run() {
    std::vector<Node> nodes;
    std::swap(nodes, graph_.nodes);
    for (Node& node : nodes)
      if (!Widen(node)) graph_.nodes.push_back(std::move(node));
    return changed_;
  }

 private:
  DType TypeOf(ValueId id) const { return id == kNoValue ? DType::kF32 : graph_.value(id).type; }
  bool AnyHalf(const std::vector<ValueId>& ids) const {
    return std::any_of(ids.begin(), ids.end(), [&](ValueId id) { return IsHalf(TypeOf(id)); });
  }
  // Shapes, and with them types, may be known only at run time.
  bool AllKnown(const std::vector<ValueId>& ids) const {
    return std::all_of(ids.begin(), ids.end(), [&](ValueId id) {
      return id == kNoValue || (TypeOf(id) != DType::kUnknown && graph_.value(id).shape.known());
    });
  }

  // Returns whether the node keeps its halves: it looks at their bits or at none of them, is computed by
  // other code than the kernels of this library, has shapes that are known only at run time, or reads a few
  // rows of a table.
  bool Keeps(const Node& node) const {
    if (!AllKnown(node.inputs) || !AllKnown(node.outputs)) return true;
    if (IsControlFlow(node.op) || HasCustomOperator(node)) return true;
    if (IsOneOf(node.op, {"BitCast", "Shape", "Size"})) return true;
    return IsOneOf(node.op, {"Gather", "GatherND"}) && IsConstant(graph_, node.inputs[0]);
  }

  // A Cast of another number to a half is the rounding that the file asks for, and one of a half that comes
  // from outside is what this pass adds.
  bool IsComputedWide(ValueId id) const { return IsHalf(TypeOf(id)) && wide_[size_t(id)] != kNoValue; }

  bool IsOtherHalf(const Node& node) const {
    const DType to = TypeOf(node.outputs[0]);
    return IsHalf(to) && to != TypeOf(node.inputs[0]);
  }

  bool Widen(const Node& node) {
    if ((!AnyHalf(node.inputs) && !AnyHalf(node.outputs)) || Keeps(node)) return false;
    const bool casts = IsOneOf(node.op, {"Cast", "CastLike"});
    if (casts && (!IsComputedWide(node.inputs[0]) || IsOtherHalf(node))) return false;
    Node wide = node;
    if (wide.op == "Cast" && IsHalf(TypeOf(node.outputs[0])))
      wide.attributes.Set("to", std::string(Name(DType::kF32)));
    for (ValueId& id : wide.inputs)
      if (IsHalf(TypeOf(id))) id = Wide(id);
    return Emit(node, std::move(wide));
  }

  // Adds `wide` in place of `node` if it gives f32 where the node gives halves, and else what the node gives.
  // ConstantOfShape with a half, for example, does not.
  bool Emit(const Node& node, Node wide) {
    const auto results = InferNode(graph_, wide);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const Value& given = graph_.value(node.outputs[i]);
      const DType wanted = IsHalf(given.type) ? DType::kF32 : given.type;
      if (results[i].type != wanted || results[i].shape != given.shape) return false;
    }
    std::vector<Node> casts;
    for (ValueId& id : wide.outputs)
      if (IsHalf(TypeOf(id))) {
        const ValueId half = id;
        id = AddWide(half);
        casts.push_back(CastTo(TypeOf(half), "narrow.", id, half));
      }
    graph_.nodes.push_back(std::move(wide));
    std::move(casts.begin(), casts.end(),
              std::back_inserter(graph_.nodes));  // those without readers are removed
    return changed_ = true;
  }

  // Returns the f32 value with the elements of a half, and adds what computes it.
  ValueId Wide(ValueId half) {
    if (wide_[size_t(half)] != kNoValue) return wide_[size_t(half)];
    changed_ = true;
    if (IsConstant(graph_, half)) {
      const Tensor elements = WidenedHalves(graph_.value(half).constant);
      return wide_[size_t(half)] = graph_.AddConstant(graph_.value(half).name + ".f32", elements);
    }
    const ValueId wide = AddWide(half);
    graph_.nodes.push_back(CastTo(DType::kF32, "widen.", half, wide));
    return wide;
  }

  ValueId AddWide(ValueId half) {
    const Value value = graph_.value(half);
    return wide_[size_t(half)] = graph_.AddValue(value.name + ".f32", DType::kF32, value.shape);
  }

  Node CastTo(DType type, const std::string& prefix, ValueId from, ValueId to) {
    const std::string& name = graph_.value(type == DType::kF32 ? from : to).name;
    Node cast{names_.Unique(prefix + name), "Cast", {from}, {to}, {}};
    cast.attributes.Set("to", std::string(Name(type)));
    return cast;
  }

  Graph& graph_;
  NodeNames names_;
  std::vector<ValueId> wide_;  // by the ids of halves
  bool changed_ = false;
};

}  // namespace

bool WidenHalves(Graph& graph) {
  const auto is_half = [](const Value& value) { return IsHalf(value.type); };
  return std::any_of(graph.values.begin(), graph.values.end(), is_half) && Widener(graph).Run();
}

}  // namespace mete
