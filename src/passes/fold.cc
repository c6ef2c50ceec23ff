// Constant folding together with shape inference: one walk, since shapes may depend on folded values.
#include "base/error.h"
#include "graph/operators.h"
#include "kernels/reference/reference.h"
#include "passes/pass.h"

namespace mete {
namespace {

// A folded result may be large (weights made by ConstantOfShape), but not without end. Guess: the largest
// weight in the classic networks (VGG's first full layer) has 411 MB.
constexpr size_t kMaxFoldedBytes = size_t(1) << 30;

bool AllConstant(const Graph& graph, const Node& node) {
  for (ValueId id : node.inputs)
    if (id != kNoValue && !graph.value(id).is_constant()) return false;
  return true;
}

// Shape and Size need only the type and shape of their input.
bool NeedsNoData(const Graph& graph, const Node& node) {
  return (node.op == "Shape" || node.op == "Size") && graph.value(node.inputs[0]).shape.known();
}

void Evaluate(Graph& graph, const Node& node, RefKernel kernel, Scratch& scratch) {
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

bool TooLarge(const std::vector<InferContext::Result>& results) {
  size_t bytes = 0;
  for (const auto& r : results)
    if (r.shape.known()) bytes += size_t(r.shape.Elements()) * SizeOf(r.type);
  return bytes > kMaxFoldedBytes;
}

// Infers one node and folds it where it can be; true where it was folded.
bool Visit(Graph& graph, const Node& node, Scratch& scratch) {
  const auto results = InferNode(graph, node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    graph.value(node.outputs[i]).type = results[i].type;
    graph.value(node.outputs[i]).shape = results[i].shape;
  }
  if (!(AllConstant(graph, node) || NeedsNoData(graph, node)) || TooLarge(results)) return false;
  const RefKernel kernel = FindReference(node.op);
  if (!kernel) return false;
  Evaluate(graph, node, kernel, scratch);
  return true;
}

}  // namespace

bool FoldConstants(Graph& graph) {
  Scratch scratch;
  std::string problems;
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    try {
      if (!Visit(graph, node, scratch)) kept.push_back(std::move(node));
    } catch (const Error& e) {
      const std::string what = e.what();
      problems += (problems.empty() ? "" : "\n") + (what.find(node.name) == std::string::npos ? "[" + node.name + "] " + what : what);
      for (ValueId id : node.outputs)  // later nodes then stay unknown instead of complaining as well
        if (id != kNoValue) graph.value(id).shape = Shape::Unknown();
    }
  }
  if (!problems.empty()) throw Error(Code::kInvalidArgument, problems);
  graph.nodes = std::move(kept);
  return true;
}

}  // namespace mete
