#include "passes/loop_invariants.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/bodies.h"
#include "graph/node_names.h"
#include "graph/operators.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// A Loop has M and the condition before the inputs that it carries, its body the number of the run and the
// condition. Of the body's outputs, the condition stands before those that are carried on.
constexpr size_t kBeforeCarried = 2, kBeforeResults = 1;

// The most elements of the results that are kept in memory for all runs of a Loop, 64 MiB of f32. A guess: no
// cache keeps more, so that a run which reads them gains little.
constexpr int64_t kMostElements = int64_t(1) << 24;

using Ids = std::vector<ValueId>;

void Erase(Ids& ids, size_t at) { ids.erase(ids.begin() + std::ptrdiff_t(at)); }

// Puts `by` in the place of `count` ids from `first` on.
void Replace(Ids& ids, size_t first, size_t count, const Ids& by) {
  const auto begin = ids.begin() + std::ptrdiff_t(first);
  ids.insert(ids.erase(begin, begin + std::ptrdiff_t(count)), by.begin(), by.end());
}

// What readers of a Loop's outputs read instead: what the Loop was given.
using Instead = std::map<ValueId, ValueId>;

// One Loop of a graph, with a body of its own that may be changed.
class LoopInvariants {
 public:
  LoopInvariants(Graph& graph, size_t node, NodeNames& names, Instead& instead)
      : graph_(graph),
        loop_(graph.nodes[node]),
        names_(names),
        instead_(instead),
        body_(*loop_.attributes.GraphOf("body")),
        captures_(CapturesOf(loop_.attributes)) {}

  // Returns whether the Loop has changed. Then Before() stands before it.
  bool Run() {
    if (!IsWhole()) return false;
    CaptureUnchanged();
    MoveProducts();
    if (!changed_) return false;
    LeaveOutUnread();
    loop_.attributes.Set(kCaptures, int64_t(captures_));
    loop_.attributes.Set("body", GraphPtr(std::make_shared<Graph>(std::move(body_))));
    return true;
  }

  std::vector<Node>& Before() { return before_; }

 private:
  // The inference reports what does not fit together.
  bool IsWhole() const {
    const size_t inputs = loop_.inputs.size();
    return inputs == body_.inputs.size() && inputs >= kBeforeCarried + captures_ &&
           body_.outputs.size() >= kBeforeResults + carried() &&
           loop_.outputs.size() <= body_.outputs.size() - kBeforeResults;
  }
  size_t carried() const { return loop_.inputs.size() - kBeforeCarried - captures_; }

  void CaptureUnchanged() {
    const std::vector<ValueId> origins = OriginsOf(body_);
    Ids carried_in, carried_out, inside, results;  // of what changes
    Ids given, parameters;                         // of what does not
    const size_t count = carried();
    for (size_t i = 0; i < count; ++i) {
      const ValueId in = loop_.inputs[kBeforeCarried + i], out = loop_.output(i),
                    parameter = body_.inputs[kBeforeCarried + i], result = body_.outputs[kBeforeResults + i];
      if (in != kNoValue && origins[size_t(result)] == parameter) {
        if (out != kNoValue) instead_.emplace(out, in);
        given.push_back(in);
        parameters.push_back(parameter);
        continue;
      }
      carried_in.push_back(in);
      carried_out.push_back(out);
      inside.push_back(parameter);
      results.push_back(result);
    }
    if (given.empty()) return;
    const size_t scans = std::min(count, loop_.outputs.size());
    Replace(loop_.inputs, kBeforeCarried, count, carried_in);
    Replace(loop_.outputs, 0, scans, carried_out);
    Replace(body_.inputs, kBeforeCarried, count, inside);
    Replace(body_.outputs, kBeforeResults, count, results);
    for (size_t i = 0; i < given.size(); ++i) Capture(given[i], parameters[i]);
  }

  // Adds the value `outside` of the graph as the capture `inside` of the body.
  void Capture(ValueId outside, ValueId inside) {
    loop_.inputs.push_back(outside);
    body_.inputs.push_back(inside);
    ++captures_;
    changed_ = true;
  }

  void MoveProducts() {
    std::map<ValueId, ValueId> outside;  // of captures: their values in the graph
    for (size_t i = body_.inputs.size() - captures_; i < body_.inputs.size(); ++i)
      outside.emplace(body_.inputs[i], loop_.inputs[i]);
    std::vector<Node> kept;
    for (Node& node : body_.nodes)
      if (!Move(node, outside)) kept.push_back(std::move(node));
    body_.nodes = std::move(kept);
  }

  // Moves a node of captures and constants of f32 before the Loop, where that saves work in each run.
  bool Move(const Node& node, std::map<ValueId, ValueId>& outside) {
    if (!IsOneOf(node.op, {"MatMul", "Gemm", "Conv", "Transpose", "Add", "Sub", "Mul"})) return false;
    if (node.outputs.size() != 1 || node.outputs[0] == kNoValue) return false;
    bool any = false;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      const auto at = outside.find(id);
      any = any || at != outside.end();
      const bool floats =
          at != outside.end() ? IsF32(graph_, at->second) : body_.value(id).is_constant() && IsF32(body_, id);
      if (!floats) return false;
    }
    return any && Add(node, outside);
  }

  // Adds the node to the graph, if its shapes fit together and it is worth it.
  bool Add(const Node& node, std::map<ValueId, ValueId>& outside) {
    const std::string name = loop_.name + "/" + node.name;
    const size_t values = graph_.values.size();
    Node moved{name, node.op, {}, {kNoValue}, node.attributes};  // whose output is inferred first
    for (const ValueId id : node.inputs) {
      const auto at = outside.find(id);
      if (id == kNoValue || at != outside.end()) moved.inputs.push_back(id == kNoValue ? id : at->second);
      else
        moved.inputs.push_back(
            graph_.AddConstant(name + "." + body_.value(id).name, body_.value(id).constant));
    }
    const auto result = ResultOf(moved);
    if (!result || !IsWorthIt(moved, result->shape)) {
      graph_.values.resize(values);
      return false;
    }
    kept_elements_ += result->shape.Elements();
    const ValueId inside = node.outputs[0];
    moved.name = names_.Unique(name);
    moved.outputs = {graph_.AddValue(name + "." + body_.value(inside).name, result->type, result->shape)};
    outside.emplace(inside, moved.outputs[0]);
    Capture(moved.outputs[0], inside);
    before_.push_back(std::move(moved));
    return true;
  }

  // Returns nothing for shapes that do not fit: a Loop that never runs is no error.
  std::optional<InferContext::Result> ResultOf(const Node& node) const {
    try {
      return InferNode(graph_, node).at(0);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  // A sum is sooner computed again than read, if it is larger than its operands. A product of a
  // transposition reads the operand where it lies, so that only constants are transposed, once.
  bool IsWorthIt(const Node& node, const Shape& result) const {
    if (!result.known() || result.Elements() > kMostElements - kept_elements_) return false;
    if (node.op == "Transpose") return IsConstant(graph_, node.inputs[0]);
    if (!IsOneOf(node.op, {"Add", "Sub", "Mul"})) return true;
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return graph_.value(id).shape.known() && graph_.value(id).shape.Elements() >= result.Elements();
    });
  }

  void LeaveOutUnread() {
    RemoveUnused(body_);
    const Uses uses(body_);
    for (size_t i = body_.inputs.size(), last = i - captures_; i-- > last;) {
      const auto id = size_t(body_.inputs[i]);
      if (!uses.readers[id].empty() || uses.is_output[id]) continue;
      Erase(body_.inputs, i);
      Erase(loop_.inputs, i);
      --captures_;
    }
  }

  Graph& graph_;
  Node& loop_;
  NodeNames& names_;
  Instead& instead_;
  Graph body_;
  size_t captures_;
  std::vector<Node> before_;
  int64_t kept_elements_ = 0;  // of what stands before the Loop
  bool changed_ = false;
};

}  // namespace

bool MoveLoopInvariants(Graph& graph) {
  const auto is_loop = [](const Node& node) { return node.op == "Loop" && node.attributes.GraphOf("body"); };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_loop)) return false;
  NodeNames names(graph);
  Instead instead;
  std::map<size_t, std::vector<Node>> before;  // by the index of a Loop
  bool changed = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId& id : graph.nodes[n].inputs)
      if (const auto at = instead.find(id); at != instead.end()) id = at->second;
    if (!is_loop(graph.nodes[n])) continue;
    LoopInvariants invariants(graph, n, names, instead);
    if (!invariants.Run()) continue;
    changed = true;
    before[n] = std::move(invariants.Before());
  }
  if (!changed) return false;
  std::vector<Node> nodes = std::exchange(graph.nodes, {});
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (const auto at = before.find(n); at != before.end())
      graph.nodes.insert(graph.nodes.end(), at->second.begin(), at->second.end());
    graph.nodes.push_back(std::move(nodes[n]));
  }
  // Outputs of the graph keep their values, whose names are theirs. A Loop may have been given them.
  const std::set<ValueId> outputs(graph.outputs.begin(), graph.outputs.end());
  for (const auto& [after, given] : instead)
    if (outputs.contains(after))
      graph.AddNode("Identity", names.Unique(graph.value(after).name), {given}, {after});
  return true;
}

}  // namespace mete
