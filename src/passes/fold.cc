// Folds constants and infers shapes in one walk, because shapes may depend on folded values.
#include <algorithm>

#include "base/error.h"
#include "base/problems.h"
#include "base/rethrow.h"
#include "graph/operators.h"
#include "kernels/reference/reference.h"
#include "passes/fold_work.h"
#include "passes/pass.h"

namespace mete {
namespace {

bool AllConstant(const Graph& graph, const Node& node) {
  for (ValueId id : node.inputs)
    if (id != kNoValue && !graph.value(id).is_constant()) return false;
  return true;
}

// Shape and Size need only the type and shape of their input.
bool NeedsNoData(const Graph& graph, const Node& node) {
  return (node.op == "Shape" || node.op == "Size") && graph.value(node.inputs[0]).shape.known();
}

// The remaining bytes and steps that folding may use for one graph.
class Budget {
 public:
  Budget(const FoldLimits& limits, FoldSpent& spent) : limits_(limits), spent_(spent) {}

  // Returns true if the node may be folded, and charges its bytes and steps. Outputs of unknown shape are
  // charged when they are allocated.
  bool Take(const Graph& graph, const Node& node) {
    const int64_t bytes = spent_.bytes;
    const double work = FoldWork(graph, node);
    bool fits = work <= limits_.max_work - spent_.work;
    for (ValueId id : node.outputs)
      if (fits && id != kNoValue && graph.value(id).shape.known())
        fits = TakeBytes(graph.value(id).shape, graph.value(id).type);
    if (fits) spent_.work += work;
    else spent_.bytes = bytes;
    return fits;
  }

  bool TakeBytes(const Shape& shape, DType type) {
    const int64_t elements =
        CheckedElements(shape, type, std::min(limits_.max_result_bytes, limits_.max_bytes - spent_.bytes));
    if (elements < 0) return false;
    spent_.bytes += elements * int64_t(SizeOf(type));
    return true;
  }

 private:
  const FoldLimits& limits_;
  FoldSpent& spent_;
};

void Evaluate(Graph& graph, const Node& node, RefKernel kernel, Budget& budget, Scratch& scratch) {
  std::vector<ConstView> in(node.inputs.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    const Value& v = graph.value(node.inputs[i]);
    in[i] = {v.constant.data(), v.type, v.shape};
  }
  std::vector<Tensor> results(node.outputs.size());
  std::vector<View> out(node.outputs.size());
  auto allocate = [&](size_t i, DType type, const Shape& shape) {
    if (i >= out.size() || node.outputs[i] == kNoValue) return;
    if (!graph.value(node.outputs[i]).shape.known() && !budget.TakeBytes(shape, type))
      Fail(Code::kResourceExhausted, node.name, "a constant result is too large; got {} {}", Name(type),
           ToString(shape));
    results[i] = Tensor(type, shape);
    out[i] = results[i].mutable_view();
  };
  for (size_t i = 0; i < out.size(); ++i)
    if (node.outputs[i] != kNoValue && graph.value(node.outputs[i]).shape.known())
      allocate(i, graph.value(node.outputs[i]).type, graph.value(node.outputs[i]).shape);
  RefArgs args{node.attributes, in, out, scratch, allocate};
  kernel(args);
  scratch.Reset();
  for (size_t i = 0; i < out.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Value& v = graph.value(node.outputs[i]);
    v.type = results[i].type();
    v.shape = results[i].shape();
    v.constant = std::move(results[i]);
  }
}

// Infers the outputs of one node and folds the node if possible. Returns true if it was folded.
bool Visit(Graph& graph, const Node& node, const FoldOptions& options, Budget& budget, Scratch& scratch) {
  const auto results = InferNode(graph, node, options.limits.max_value_bytes);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    graph.value(node.outputs[i]).type = results[i].type;
    graph.value(node.outputs[i]).shape = results[i].shape;
  }
  if (!(AllConstant(graph, node) || NeedsNoData(graph, node))) return false;
  if (options.keep_dequantized && node.op == "DequantizeLinear") return false;
  const RefKernel kernel = FindReference(node.op);
  if (!kernel || (!NeedsNoData(graph, node) && !budget.Take(graph, node))) return false;
  try {
    Evaluate(graph, node, kernel, budget, scratch);
  } catch (...) {
    RethrowNaming(node.name);
  }
  return true;
}

}  // namespace

bool FoldConstants(Graph& graph, const FoldOptions& options) {
  Scratch scratch;
  FoldSpent own;
  Budget budget(options.limits, options.spent ? *options.spent : own);
  Problems problems;
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    try {
      if (!Visit(graph, node, options, budget, scratch)) kept.push_back(std::move(node));
    } catch (const Error& e) {
      problems.Add(e);
      for (ValueId id : node.outputs)  // so that later nodes stay unknown and add no problems of their own
        if (id != kNoValue) graph.value(id).shape = Shape::Unknown();
    }
  }
  problems.ThrowIfAny();
  graph.nodes = std::move(kept);
  return true;
}

}  // namespace mete
