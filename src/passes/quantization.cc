#include "passes/quantization.h"

#include <cmath>

#include "base/narrow.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

// Operators on bytes take a number or a list of one.
bool IsOne(const Tensor& t) { return t.elements() == 1 && t.shape().rank() <= 1; }

}  // namespace

std::optional<Quantization> QuantizationOf(const Graph& graph, const Node& node) {
  const bool to_bytes = node.op == "QuantizeLinear";
  if (!to_bytes && node.op != "DequantizeLinear") return std::nullopt;
  const Value &in = graph.value(node.inputs[0]), &out = graph.value(node.outputs[0]);
  const Value &floats = to_bytes ? in : out, &bytes = to_bytes ? out : in;
  if (floats.type != DType::kF32 || !IsByte(bytes.type) || !IsConstant(graph, node.inputs[1]))
    return std::nullopt;
  const Tensor& scale = graph.value(node.inputs[1]).constant;
  if (scale.type() != DType::kF32 || !IsOne(scale)) return std::nullopt;
  Quantization of{bytes.type, *scale.as<float>(), 0, node.inputs[1], node.input(2)};
  if (!(of.scale > 0) || !std::isfinite(of.scale)) return std::nullopt;
  if (of.zero_id == kNoValue) return of;
  if (!IsConstant(graph, of.zero_id) || !IsOne(graph.value(of.zero_id).constant)) return std::nullopt;
  const Tensor& zero = graph.value(of.zero_id).constant;
  of.zero = of.type == DType::kI8 ? int(*zero.as<int8_t>()) : int(*zero.as<uint8_t>());
  return of;
}

ValueId ZeroPointOf(Graph& graph, const Quantization& of, const std::string& name) {
  if (of.zero_id != kNoValue) return of.zero_id;
  return graph.AddConstant(name + ".zero", Tensor(of.type, Shape{}));
}

bool ReadIntegersAsBytes(Graph& graph) {
  bool changed = false;
  const auto fits = [&](ValueId id) { return id == kNoValue || IsConstant(graph, id); };
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].op != "DequantizeLinear") continue;
    const DType type = graph.value(graph.nodes[n].inputs[0]).type;
    if (!IsNarrow(type) || IsNarrowFloat(type)) continue;
    if (!fits(graph.nodes[n].inputs[0]) || !fits(graph.nodes[n].input(2))) continue;
    for (const size_t i : {0, 2})
      if (const ValueId id = graph.nodes[n].input(i); id != kNoValue)
        graph.nodes[n].inputs[i] =
            graph.AddConstant(graph.value(id).name + ".bytes", AsBytes(graph.value(id).constant.view()));
    changed = true;
  }
  return changed;
}

bool FuseQuantized(Graph& graph) {
  const bool bytes = ReadIntegersAsBytes(graph);
  const bool moved = MoveDequantize(graph);
  RemoveUnused(graph);  // operators that were replaced are no readers
  const bool tables = FuseByteTables(graph);
  RemoveUnused(graph);
  const bool operators = FuseByteOperators(graph);
  return FuseScaledSums(graph) || operators || tables || moved || bytes;
}

}  // namespace mete
