// The verifier of Graph. Every graph that an importer or a pass returns must pass it.
#include <set>

#include "base/error.h"
#include "graph/fused.h"
#include "graph/graph.h"
#include "graph/operators.h"

namespace mete {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), made_(graph.values.size()) {}

  void Run() {
    CheckValues();
    ThrowIfAny();  // further checks might read a constant with a wrong type or shape
    for (ValueId id : graph_.inputs)
      if (CheckId(graph_.name, id)) Make(graph_.name, id);
    for (size_t i = 0; i < graph_.values.size(); ++i)
      if (graph_.values[i].is_constant()) {
        if (made_[i]) Add(graph_.values[i].name, "a constant is also an input");
        made_[i] = true;
      }
    for (const Node& node : graph_.nodes) CheckNode(node);
    for (ValueId id : graph_.outputs)
      if (CheckId(graph_.name, id) && !made_[size_t(id)])
        Add(graph_.name, "output '{}' is made by no node", graph_.value(id).name);
    if (problems_.empty()) problems_ = SliceProblems(graph_);
    ThrowIfAny();
  }

 private:
  // The message is bounded because an untrusted graph may have a name of a thousand letters in each problem.
  static constexpr int kMostProblems = 1000;

  void ThrowIfAny() const {
    if (problems_.empty()) return;
    throw Error(
        count_ > 0 && unimplemented_ == count_ ? Code::kUnimplemented : Code::kInvalidArgument,
        problems_ + (count_ > kMostProblems ? fmt::format("\nand {} more", count_ - kMostProblems) : ""));
  }

  void Append(const std::string& problem) {
    if (++count_ <= kMostProblems) problems_ += (problems_.empty() ? "" : "\n") + problem;
  }
  template <class... A>
  void Add(const std::string& where, fmt::format_string<A...> format, A&&... args) {
    Append("[" + where + "] " + fmt::format(format, std::forward<A>(args)...));
  }

  bool CheckId(const std::string& where, ValueId id) {
    const bool good = id >= 0 && size_t(id) < graph_.values.size();
    if (!good) Add(where, "mentions value {}; expected 0 to {}", id, graph_.values.size() - 1);
    return good;
  }

  void Make(const std::string& where, ValueId id) {
    if (made_[size_t(id)]) Add(where, "value '{}' is made twice", graph_.value(id).name);
    made_[size_t(id)] = true;
  }

  void CheckValues() {
    for (const Value& v : graph_.values) {
      if (!v.is_constant()) continue;
      if (v.type != v.constant.type() || v.shape != v.constant.shape())
        Add(v.name, "constant does not fit its value; got {} {}, expected {}", Name(v.constant.type()),
            ToString(v.constant.shape()), Describe(v));
    }
  }

  void CheckNode(const Node& node) {
    if (!names_.insert(node.name).second) Add(node.name, "two nodes have this name");
    bool good = true;
    for (ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      if (!CheckId(node.name, id)) good = false;
      else if (!made_[size_t(id)]) {
        Add(node.name, "input '{}' is not made by an earlier node, an input or a constant",
            graph_.value(id).name);
        good = false;
      }
    }
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      if (CheckId(node.name, id)) Make(node.name, id);
      else good = false;
    }
    const OpSchema* op = FindOperator(node.op);
    if (!op) return Add(node.name, "unknown operator {}", node.op);
    if (op->max_inputs >= 0 && int(node.inputs.size()) > op->max_inputs) {
      Add(node.name, "{} has too many inputs; got {}, expected at most {}", node.op, node.inputs.size(),
          op->max_inputs);
      good = false;
    }
    if (op->max_outputs >= 0 && int(node.outputs.size()) > op->max_outputs) {
      Add(node.name, "{} has too many outputs; got {}, expected at most {}", node.op, node.outputs.size(),
          op->max_outputs);
      good = false;
    }
    if (good) CheckShapes(node);
  }

  void CheckShapes(const Node& node) {
    try {
      const auto results = InferNode(graph_, node);
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] == kNoValue) continue;
        const Value& v = graph_.value(node.outputs[i]);
        if (v.type == DType::kUnknown) continue;  // not inferred yet, or known only at run time
        if (v.type != results[i].type || v.shape != results[i].shape)
          Add(node.name, "output '{}' is {}, but {} gives {} {}", v.name, Describe(v), node.op,
              Name(results[i].type), ToString(results[i].shape));
      }
    } catch (const Error& e) {
      Append(e.what());
      unimplemented_ += e.code() == Code::kUnimplemented;
    }
  }

  const Graph& graph_;
  std::vector<bool> made_;
  std::set<std::string> names_;
  std::string problems_;
  int count_ = 0;          // number of all problems, including those beyond kMostProblems
  int unimplemented_ = 0;  // those of them with this code
};

}  // namespace

void Verify(const Graph& graph) { Verifier(graph).Run(); }

}  // namespace mete
