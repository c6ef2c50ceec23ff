#include "passes/loop_invariants.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/bodies.h"
#include "graph/node_names.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// Inputs of a Loop before those that it carries, M and the condition; of its body, the run's number and the
// condition; and the body's outputs before them, the condition.
constexpr size_t kBeforeCarried = 2, kBeforeResults = 1;

// One Loop of a graph, with a body of its own that may be changed.
class LoopInvariants {
 public:
  LoopInvariants(Graph& graph, size_t node, NodeNames& names)
      : graph_(graph),
        node_(node),
        names_(names),
        body_(*graph.nodes[node].attributes.GraphOf("body")),
        captures_(CapturesOf(graph.nodes[node].attributes)) {}

  bool Run() {
    if (!IsWhole()) return false;
    CaptureUnchanged();
    MoveProducts();
    if (!changed_) return false;
    loop().attributes.Set(kCaptures, int64_t(captures_));
    loop().attributes.Set("body", GraphPtr(std::make_shared<Graph>(std::move(body_))));
    graph_.nodes.insert(graph_.nodes.begin() + std::ptrdiff_t(node_), moved_.begin(), moved_.end());
    return true;
  }

 private:
  Node& loop() { return graph_.nodes[node_]; }

  // The inference reports what does not fit together.
  bool IsWhole() {
    const size_t inputs = loop().inputs.size();
    return inputs == body_.inputs.size() && inputs >= kBeforeCarried + captures_ &&
           body_.outputs.size() >= kBeforeResults + carried() &&
           loop().outputs.size() <= body_.outputs.size() - kBeforeResults;
  }
  size_t carried() { return loop().inputs.size() - kBeforeCarried - captures_; }

  // Returns what an output of the body is, behind nodes that change nothing.
  ValueId Origin(const Uses& uses, ValueId id) const {
    for (int n = uses.producer[size_t(id)]; n >= 0 && body_.nodes[size_t(n)].op == "Identity";
         n = uses.producer[size_t(id)])
      id = body_.nodes[size_t(n)].inputs[0];
    return id;
  }

  void CaptureUnchanged() {
    const Uses uses(body_);
    for (size_t i = carried(); i-- > 0;) {
      const ValueId inside = body_.inputs[kBeforeCarried + i], before = loop().inputs[kBeforeCarried + i];
      if (before == kNoValue || Origin(uses, body_.outputs[kBeforeResults + i]) != inside) continue;
      if (const ValueId after = loop().output(i); after != kNoValue) ReplaceUses(graph_, after, before);
      const auto erase = [](std::vector<ValueId>& ids, size_t at) {
        if (at < ids.size()) ids.erase(ids.begin() + std::ptrdiff_t(at));
      };
      erase(loop().outputs, i);
      erase(loop().inputs, kBeforeCarried + i);
      erase(body_.inputs, kBeforeCarried + i);
      erase(body_.outputs, kBeforeResults + i);
      Capture(before, inside);
    }
  }

  // Adds the value `before` of the graph as the capture `inside` of the body.
  void Capture(ValueId before, ValueId inside) {
    loop().inputs.push_back(before);
    body_.inputs.push_back(inside);
    ++captures_;
    changed_ = true;
  }

  // Returns whether a value of the body is a constant or a capture, of f32.
  bool IsFloats(ValueId id, const std::map<ValueId, ValueId>& outside) const {
    if (body_.value(id).is_constant()) return body_.value(id).type == DType::kF32;
    const auto at = outside.find(id);
    return at != outside.end() && IsF32(graph_, at->second);
  }

  // Operators that cannot fail for operands of f32 whose shapes fit together, as the first run would show.
  static bool MayMove(const Node& node) {
    return node.outputs.size() == 1 &&
           IsOneOf(node.op, {"MatMul", "Gemm", "Conv", "Transpose", "Add", "Sub", "Mul"});
  }

  // A value that is a capture, and its value in the graph.
  std::map<ValueId, ValueId> Captures() {
    std::map<ValueId, ValueId> outside;
    for (size_t i = body_.inputs.size() - captures_; i < body_.inputs.size(); ++i)
      outside.emplace(body_.inputs[i], loop().inputs[i]);
    return outside;
  }

  void MoveProducts() {
    std::map<ValueId, ValueId> outside = Captures();
    std::vector<Node> kept;
    for (Node& node : body_.nodes) {
      const auto is_outside = [&](ValueId id) { return id == kNoValue || IsFloats(id, outside); };
      const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](ValueId id) { return outside.contains(id); });
      if (!any || !MayMove(node) || !std::all_of(node.inputs.begin(), node.inputs.end(), is_outside)) {
        kept.push_back(std::move(node));
        continue;
      }
      moved_.push_back(Moved(node, outside));
    }
    body_.nodes = std::move(kept);
  }

  // Returns the node as one of the graph, and makes its output a capture.
  Node Moved(const Node& node, std::map<ValueId, ValueId>& outside) {
    const std::string name = loop().name + "/" + node.name;
    Node moved{names_.Unique(name), node.op, {}, {}, node.attributes};
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) moved.inputs.push_back(kNoValue);
      else if (const auto at = outside.find(id); at != outside.end()) moved.inputs.push_back(at->second);
      else
        moved.inputs.push_back(
            graph_.AddConstant(name + "." + body_.value(id).name, body_.value(id).constant));
    }
    const ValueId inside = node.outputs[0];
    moved.outputs = {graph_.AddValue(name + "." + body_.value(inside).name, DType::kF32)};
    outside.emplace(inside, moved.outputs[0]);
    Capture(moved.outputs[0], inside);
    return moved;
  }

  Graph& graph_;
  const size_t node_;
  NodeNames& names_;
  Graph body_;
  size_t captures_;
  std::vector<Node> moved_;  // of the body, which stand before the Loop
  bool changed_ = false;
};

}  // namespace

bool MoveLoopInvariants(Graph& graph) {
  const auto is_loop = [](const Node& node) { return node.op == "Loop" && node.attributes.GraphOf("body"); };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_loop)) return false;
  NodeNames names(graph);
  bool changed = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!is_loop(graph.nodes[n])) continue;
    const size_t before = graph.nodes.size();
    changed |= LoopInvariants(graph, n, names).Run();
    n += graph.nodes.size() - before;  // nodes that are moved stand before the Loop
  }
  return changed;
}

}  // namespace mete
