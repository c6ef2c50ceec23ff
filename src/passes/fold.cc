// Folds constants and infers shapes in one walk, because shapes may depend on folded values.
#include <algorithm>

#include "base/error.h"
#include "base/problems.h"
#include "graph/operators.h"
#include "kernels/reference/reference.h"
#include "passes/fold_node.h"
#include "passes/fold_work.h"
#include "passes/inline_bodies.h"
#include "passes/inline_sequences.h"
#include "passes/loop_invariants.h"
#include "passes/pass.h"
#include "passes/stack_sequences.h"

namespace mete {
namespace {

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

bool ReadsOpen(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return id != kNoValue && graph.value(id).open != kNoValue; });
}

// Infers the outputs of one node and folds the node if possible. Returns true if it was folded.
bool Visit(Graph& graph, const Node& node, const FoldOptions& options, Budget& budget, Scratch& scratch) {
  (void)InferOutputs(graph, node, options.limits.max_value_bytes);
  if (!IsComputable(graph, node)) return false;
  if (options.keep_dequantized && node.op == "DequantizeLinear") return false;
  // A result of open constants is open, too, which is only marked if `varying` is given.
  if (!options.varying && ReadsOpen(graph, node)) return false;
  const RefKernel kernel = FindReference(node.op);
  if (!kernel || (!NeedsNoData(graph, node) && !budget.Take(graph, node))) return false;
  EvaluateNode(graph, node, kernel, scratch,
               [&](const Shape& shape, DType type) { return budget.TakeBytes(shape, type); });
  return true;
}

// Marks what depends on the sizes that vary. Returns true if the outputs of a node do.
bool Follow(Graph& graph, const Node& node, bool folded, Varying& varying) {
  const auto varies = [&](ValueId id) { return id != kNoValue && varying[size_t(id)]; };
  if (std::none_of(node.inputs.begin(), node.inputs.end(), varies)) return false;
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    varying[size_t(id)] = true;
    if (folded) graph.value(id).open = id;
  }
  return true;
}

// Writes a CastLike as the Cast that it is once the type is known, so that it can be folded without the
// tensor that it is like.
void WriteTypeOfCast(const Graph& graph, Node& node) {
  // The nodes of a body that has been inlined are not verified yet.
  const ValueId like = node.op == "CastLike" && node.inputs.size() == 2 ? node.inputs[1] : kNoValue;
  if (like == kNoValue || graph.value(like).type == DType::kUnknown) return;
  node.attributes.Set("to", std::string(Name(graph.value(like).type)));
  node.op = "Cast";
  node.inputs.pop_back();
}

// Infers and folds all nodes once.
void Walk(Graph& graph, const FoldOptions& options, Budget& budget, Scratch& scratch) {
  Problems problems;
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    try {
      WriteTypeOfCast(graph, node);
      const bool folded = Visit(graph, node, options, budget, scratch);
      const bool varies = options.varying && Follow(graph, node, folded, *options.varying);
      if (!folded || varies) kept.push_back(std::move(node));
    } catch (const Error& e) {
      problems.Add(e);
      for (ValueId id : node.outputs)  // so that later nodes stay unknown and add no problems of their own
        if (id != kNoValue) graph.value(id).shape = Shape::Unknown();
    }
  }
  problems.ThrowIfAny();
  graph.nodes = std::move(kept);
}

}  // namespace

bool FoldConstants(Graph& graph, const FoldOptions& options) {
  Scratch scratch;
  FoldSpent own;
  Budget budget(options.limits, options.spent ? *options.spent : own);
  do {
    if (options.varying) options.varying->resize(graph.values.size());
    Walk(graph, options, budget, scratch);
  } while (MoveLoopInvariants(graph) || InlineBodies(graph) || InlineSequences(graph) ||
           StackSequences(graph));
  return true;
}

}  // namespace mete
