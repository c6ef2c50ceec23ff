// Small queries and edits that several passes share.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace mete {

inline bool IsOneOf(std::string_view op, std::initializer_list<std::string_view> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

inline bool IsIdentity(const Ints& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != int64_t(i)) return false;
  return true;
}

// Returns the value of a constant with one element of f32, f64, i32 or i64; nothing for other values.
std::optional<double> ScalarOf(const Graph& graph, ValueId id);

// Whether a value has one of the types that convolutions give: floats, bytes, or sums of bytes.
inline bool IsOfConvolutions(const Graph& graph, ValueId id) {
  if (id == kNoValue) return false;
  const DType type = graph.value(id).type;
  return type == DType::kF32 || type == DType::kU8 || type == DType::kI8 || type == DType::kI32;
}

// Returns whether a QuantizeLinear or a DequantizeLinear of a value of `rank` dimensions has one scale, or
// one for each index of axis 1.
bool ConvertsByChannel(const Graph& graph, const Node& node, int rank);

inline ValueId AddInts(Graph& graph, std::string name, const Ints& values) {
  return graph.AddConstant(std::move(name), Tensor::Ints(values));
}

// Returns a copy of `source` with permuted dimensions: dimension i of the result is source's perm[i].
Tensor Permuted(const Tensor& source, const std::vector<int>& perm);

// Redirects every reader of `from`, and the graph's outputs, to `to`. An output keeps its name.
void ReplaceUses(Graph& graph, ValueId from, ValueId to);

}  // namespace mete
