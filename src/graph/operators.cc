#include "graph/operators.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/narrow.h"
#include "base/problems.h"

namespace mete {
namespace {

std::vector<const OpSchema*> BuildTable() {
  std::vector<const OpSchema*> table;
  for (auto family :
       {ElementwiseOperators(), ReductionOperators(), ConvolutionOperators(), NormalizationOperators(),
        MatrixOperators(), TensorOperators(), IndexOperators(), ImageOperators(), SequenceOperators(),
        QuantizedOperators(), FusedOperators(), ControlFlowOperators()})
    for (const OpSchema& op : family) table.push_back(&op);
  std::sort(table.begin(), table.end(), [](auto* a, auto* b) { return std::string_view(a->name) < b->name; });
  return table;
}

const std::vector<const OpSchema*>& Table() {
  static const std::vector<const OpSchema*> table = BuildTable();  // immutable after the first call
  return table;
}

[[noreturn]] void FailNarrow(const Node& node, const char* what, DType type, const char* expected) {
  Fail(Code::kUnimplemented, node.name, "operator {} {} element type {}; expected {}", node.op, what,
       Name(type), expected);
}

std::vector<InferContext::Result> Infer(const Node& node, std::span<const ConstView> inputs,
                                        std::span<const uint8_t> has_data, int64_t max_bytes) {
  const OpSchema* op = FindOperator(node.op);
  if (!op) Fail(Code::kUnimplemented, node.name, "unknown operator {}", node.op);
  InferContext context(node.name, node.attributes, inputs, has_data, node.outputs.size());
  // Also where a shape is unknown, so that nothing is inferred: passes count on these inputs.
  for (int i = 0; i < op->min_inputs; ++i)
    if (!context.has(i))
      context.Bad("{} needs input {}; got {} inputs, expected at least {}", node.op, i, inputs.size(),
                  op->min_inputs);
  for (const ConstView& in : inputs)
    if (in.present() && !in.shape.known()) return std::vector<InferContext::Result>(node.outputs.size());
  for (const ConstView& in : inputs)
    if (!op->traits.narrow && IsNarrow(in.type))
      FailNarrow(node, "does not compute with", in.type, "a Cast or DequantizeLinear first");
  op->infer(context);
  for (const InferContext::Result& r : context.results()) {
    if (!op->traits.narrow && IsNarrow(r.type))
      FailNarrow(node, "cannot make", r.type, "another type and a Cast");
    if (r.shape.known() && CheckedElements(r.shape, r.type, max_bytes) < 0)
      context.Bad("output has impossible dimensions; got {}, expected none negative and at most {} bytes",
                  ToString(r.shape), max_bytes);
  }
  return {context.results().begin(), context.results().end()};
}

template <class T>
Ints Widen(const ConstView& v) {
  return Ints(v.as<T>(), v.as<T>() + v.elements());
}

}  // namespace

// A walk over shapes and a memory plan ask some times for each node.
const OpSchema* FindOperator(std::string_view op) {
  static const std::unordered_map<std::string_view, const OpSchema*> by_name = [] {
    std::unordered_map<std::string_view, const OpSchema*> rows;
    for (const OpSchema* row : Table()) rows.emplace(row->name, row);
    return rows;
  }();  // immutable after the first call
  const auto at = by_name.find(op);
  return at == by_name.end() ? nullptr : at->second;
}

std::vector<const OpSchema*> AllOperators() { return Table(); }

std::optional<Ints> InferContext::ints(int i) const {
  if (!has_data(i)) return std::nullopt;
  const ConstView& v = data(i);
  switch (v.type) {
    case DType::kI64: return Widen<int64_t>(v);
    case DType::kI32: return Widen<int32_t>(v);
    case DType::kI16: return Widen<int16_t>(v);
    case DType::kI8: return Widen<int8_t>(v);
    case DType::kU8: return Widen<uint8_t>(v);
    case DType::kU16: return Widen<uint16_t>(v);
    case DType::kU32: return Widen<uint32_t>(v);
    case DType::kU64: return Widen<uint64_t>(v);
    case DType::kBool: return Widen<uint8_t>(v);
    default: Bad("input {} must hold integers; got {}", i, Name(v.type));
  }
}

void InferContext::NeedRank(int i, int least, int most) const {
  const int rank = shape(i).rank();
  if (rank < least || rank > most)
    Bad("input {} has the wrong number of dimensions; got {} ({}), expected {}", i, rank, ToString(shape(i)),
        least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most));
}

int InferContext::Axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank)
    Bad("axis is out of range; got {}, expected {} to {}", axis, -rank, rank - 1);
  return int(axis < 0 ? axis + rank : axis);
}

std::vector<InferContext::Result> InferNode(const Graph& graph, const Node& node, int64_t max_bytes) {
  // Most nodes have few inputs, and a walk over the shapes of a graph must not ask for memory at each.
  constexpr size_t kFew = 8;
  std::array<ConstView, kFew> few;
  std::array<uint8_t, kFew> few_have_data{};
  std::vector<ConstView> many(node.inputs.size() > kFew ? node.inputs.size() : 0);
  std::vector<uint8_t> many_have_data(many.size());
  const std::span inputs(many.empty() ? few.data() : many.data(), node.inputs.size());
  const std::span has_data(many.empty() ? few_have_data.data() : many_have_data.data(), node.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    const Value& v = graph.value(node.inputs[i]);
    // A value of unknown shape may also have an unknown type; it is present all the same.
    // Shapes follow from integers, and no integers have a source (import/onnx/tensors.cc).
    const bool has_source = v.constant.source() != nullptr;
    inputs[i] = {has_source ? nullptr : v.constant.data(), v.type == DType::kUnknown ? DType::kF32 : v.type,
                 v.shape};
    has_data[i] = v.is_constant() && !has_source;
  }
  return Infer(node, inputs, has_data, max_bytes);
}

std::vector<InferContext::Result> InferNode(const Node& node, std::span<const ConstView> inputs,
                                            int64_t max_bytes) {
  return Infer(node, inputs, std::vector<uint8_t>(inputs.size(), 1), max_bytes);
}

void InferShapes(Graph& graph) {
  Problems problems;
  for (const Node& node : graph.nodes) {
    try {
      const auto results = InferNode(graph, node);
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] == kNoValue) continue;
        graph.value(node.outputs[i]).type = results[i].type;
        graph.value(node.outputs[i]).shape = results[i].shape;
      }
    } catch (const Error& e) {
      problems.Add(e);
    }
  }
  problems.ThrowIfAny();
}

Shape BroadcastShapes(const InferContext& c, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out;
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1)
      c.Bad("shapes cannot be broadcast together; got {} and {}", ToString(a), ToString(b));
    out.push_back(da == 1 ? db : da);
  }
  return out;
}

}  // namespace mete
