#include "passes/rewrite.h"

#include <cstring>

namespace mete {

std::optional<double> ScalarOf(const Graph& graph, ValueId id) {
  if (!IsConstant(graph, id) || graph.value(id).constant.elements() != 1) return std::nullopt;
  const Tensor& t = graph.value(id).constant;
  switch (t.type()) {
    case DType::kF32: return *t.as<float>();
    case DType::kF64: return *t.as<double>();
    case DType::kI32: return *t.as<int32_t>();
    case DType::kI64: return double(*t.as<int64_t>());
    default: return std::nullopt;
  }
}

Tensor Permuted(const Tensor& source, const std::vector<int>& perm) {
  Shape shape;
  for (int p : perm) shape.push_back(source.shape()[p]);
  Tensor result(source.type(), shape);
  const size_t size = SizeOf(source.type());
  std::vector<int64_t> stride(perm.size());  // strides of the source, in the order of the result
  for (size_t i = 0; i < perm.size(); ++i)
    stride[i] = source.shape().Elements(perm[i] + 1, source.shape().rank());
  std::vector<int64_t> index(perm.size());
  auto* to = static_cast<std::byte*>(result.mutable_view().data);
  const auto* from = static_cast<const std::byte*>(source.data());
  for (int64_t e = 0, n = shape.Elements(); e < n; ++e) {
    int64_t at = 0;
    for (size_t i = 0; i < perm.size(); ++i) at += index[i] * stride[i];
    std::memcpy(to + size_t(e) * size, from + size_t(at) * size, size);
    for (int i = int(perm.size()) - 1; i >= 0 && ++index[size_t(i)] == shape[i]; --i) index[size_t(i)] = 0;
  }
  return result;
}

bool ConvertsByChannel(const Graph& graph, const Node& node, int rank) {
  const Shape& scale = graph.value(node.inputs[1]).shape;
  const int64_t given = node.attributes.Int("axis", 1), axis = given < 0 ? given + rank : given;
  return ((scale.known() && scale.Elements() == 1) || axis == 1) && node.attributes.Int("block_size", 0) == 0;
}

void ReplaceUses(Graph& graph, ValueId from, ValueId to) {
  for (Node& node : graph.nodes)
    for (ValueId& id : node.inputs)
      if (id == from) id = to;
  for (ValueId& id : graph.outputs) {
    if (id != from) continue;
    std::swap(graph.value(from).name, graph.value(to).name);
    id = to;
  }
}

}  // namespace mete
