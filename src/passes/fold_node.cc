#include "passes/fold_node.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/rethrow.h"
#include "base/tensor_source.h"
#include "graph/operators.h"

namespace mete {
namespace {

std::vector<ConstView> InputsOf(const Graph& graph, const Node& node) {
  std::vector<ConstView> in(node.inputs.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    const Value& v = graph.value(node.inputs[i]);
    in[i] = {v.constant.data(), v.type, v.shape};
  }
  return in;
}

}  // namespace

bool InferOutputs(Graph& graph, const Node& node, int64_t max_bytes) {
  const auto results = InferNode(graph, node, max_bytes);
  bool changed = false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Value& out = graph.value(node.outputs[i]);
    changed |= out.type != results[i].type || !(out.shape == results[i].shape);
    out.type = results[i].type;
    out.shape = results[i].shape;
  }
  return changed;
}

namespace {

// Sources whose parts differ may still have equal elements: then the tensors are taken for different ones.
bool SameParts(const std::vector<std::span<const std::byte>>& a,
               const std::vector<std::span<const std::byte>>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.size() == y.size() && (x.data() == y.data() || std::memcmp(x.data(), y.data(), x.size()) == 0);
  });
}

}  // namespace

bool SameContents(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || !(a.shape() == b.shape())) return false;
  if (a.source() && b.source()) return SameParts(PartsOf(a), PartsOf(b));
  return a.data() == b.data() || a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

bool NeedsNoData(const Graph& graph, const Node& node) {
  return (node.op == "Shape" || node.op == "Size") && graph.value(node.inputs[0]).shape.known();
}

bool IsComputable(const Graph& graph, const Node& node) {
  if (NeedsNoData(graph, node)) return true;
  for (ValueId id : node.inputs)
    if (id != kNoValue && !graph.value(id).is_constant()) return false;
  return true;
}

void EvaluateNode(Graph& graph, const Node& node, RefKernel kernel, Scratch& scratch,
                  const MayAllocate& may_allocate) {
  const std::vector<ConstView> in = InputsOf(graph, node);
  std::vector<Tensor> results(node.outputs.size());
  std::vector<View> out(node.outputs.size());
  const auto allocate = [&](size_t i, DType type, const Shape& shape) {
    if (i >= out.size() || node.outputs[i] == kNoValue) return;
    if (!graph.value(node.outputs[i]).shape.known() && may_allocate && !may_allocate(shape, type))
      Fail(Code::kResourceExhausted, node.name, "a constant result is too large; got {} {}", Name(type),
           ToString(shape));
    results[i] = Tensor(type, shape);
    out[i] = results[i].mutable_view();
  };
  for (size_t i = 0; i < out.size(); ++i)
    if (node.outputs[i] != kNoValue && graph.value(node.outputs[i]).shape.known())
      allocate(i, graph.value(node.outputs[i]).type, graph.value(node.outputs[i]).shape);
  RefArgs args{node.attributes, in, out, scratch, allocate};
  try {
    kernel(args);
  } catch (...) {
    RethrowNaming(node.name);
  }
  scratch.Reset();
  for (size_t i = 0; i < out.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Value& v = graph.value(node.outputs[i]);
    v.type = results[i].type();
    v.shape = results[i].shape();
    v.constant = std::move(results[i]);
  }
}

}  // namespace mete
