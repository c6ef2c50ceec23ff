#include "dispatch/recurrence.h"

#include <algorithm>
#include <array>

#include "base/recurrent.h"
#include "dispatch/reason.h"
#include "graph/fused.h"

namespace mete {
namespace {

using enum RecurrentKind;

RecurrentCell CellOf(const Node& node) {
  if (node.op == "LSTM") return RecurrentCell::kLstm;
  if (node.op == "RNN") return RecurrentCell::kRnn;
  return node.attributes.Int("linear_before_reset", 0) != 0 ? RecurrentCell::kGru
                                                            : RecurrentCell::kGruResetFirst;
}

std::span<const RecurrentKind> FunctionsOf(RecurrentCell cell) {
  static constexpr std::array<RecurrentKind, 3> kLstm{kSigmoid, kTanh, kTanh};
  static constexpr std::array<RecurrentKind, 1> kRnn{kTanh};
  if (cell == RecurrentCell::kRnn) return kRnn;
  return std::span(kLstm).first(cell == RecurrentCell::kLstm ? 3 : 2);
}

bool HasUsualFunctions(const RecurrentSpec& spec, std::span<const RecurrentKind> usual) {
  for (size_t d = 0; d < size_t(spec.directions); ++d)
    for (size_t i = 0; i < usual.size(); ++i)
      if (spec.functions[d][i].kind != usual[i]) return false;
  return true;
}

// Returns a product of a direction as a product of matrices.
Product ProductWith(const Recurrence& r, int64_t rows, int64_t k) {
  Product p;
  p.m = rows;
  p.n = GatesOf(r.cell) * r.hidden;
  p.k = p.b_stride = k;
  p.transposed = true;
  p.constant = r.constant;
  p.operands = r.operands;
  return p;
}

bool IsConstantOrOmitted(const Graph& graph, ValueId id) { return id == kNoValue || IsConstant(graph, id); }

}  // namespace

std::string Recurrence::kernel() const {
  constexpr const char* kNames[] = {"lstm", "gru", "gru_reset_first", "rnn"};
  return std::string(kNames[size_t(cell)]) + "_" + Name(PrecisionsOf(*this).lower());
}

RecurrentPrecisions PrecisionsOf(const Recurrence& r) {
  const Product inputs = ProductWith(r, r.length * r.batch, r.inputs),
                states = ProductWith(r, r.batch, r.hidden);
  // A cache near the core keeps smaller weights from one step to the next.
  const bool reads_near = states.is_vector() && !IsLarge(states);
  return {PrecisionOf(inputs), reads_near ? Precision::kF32 : PrecisionOf(states)};
}

std::optional<Recurrence> RecurrenceOf(const Graph& graph, const Node& node, std::string* why) {
  const Attributes& a = node.attributes;
  const ValueId x = node.inputs[0], w = node.inputs[1], r = node.inputs[2];
  if (!IsF32(graph, x)) return No("not f32", why);
  const Shape& shape = graph.value(x).shape;
  const auto is_known = [&](ValueId id) { return id == kNoValue || graph.value(id).shape.known(); };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), is_known))
    return No("the shape of an input depends on data", why);
  Recurrence result;
  result.constant = IsConstant(graph, w) && IsConstant(graph, r) &&
                    IsConstantOrOmitted(graph, node.input(3)) && IsConstantOrOmitted(graph, node.input(7));
  result.cell = CellOf(node);
  RecurrentSpec spec;
  if (!ParseRecurrent(a, FunctionsOf(result.cell), spec).empty()) return No("no such attributes", why);
  if (shape.Elements() == 0 || graph.value(r).shape.Elements() == 0) return No("nothing to compute", why);
  result.length = shape[spec.batch_first ? 1 : 0];
  result.batch = shape[spec.batch_first ? 0 : 1];
  result.inputs = shape[2];
  result.hidden = graph.value(r).shape[2];
  result.directions = spec.directions;
  result.reverse = spec.reverse;
  result.batch_first = spec.batch_first;
  result.operands = OperandsOf(node);
  const bool input_forget = result.cell == RecurrentCell::kLstm && a.Int("input_forget", 0) != 0;
  for (size_t d = 0; d < size_t(spec.directions); ++d)
    result.rules[d] = {spec.functions[d], float(spec.clip), input_forget};
  result.usual = HasUsualFunctions(spec, FunctionsOf(result.cell)) && !(spec.clip > 0) && !input_forget &&
                 node.input(7) == kNoValue;
  return result;
}

}  // namespace mete
