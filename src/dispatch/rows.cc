#include "dispatch/rows.h"

#include "base/window.h"
#include "dispatch/reason.h"

namespace mete {
namespace {

RowKind KindOf(std::string_view op) {
  if (op == "Softmax") return RowKind::kSoftmax;
  if (op == "LogSoftmax") return RowKind::kLogSoftmax;
  return op == "LayerNormalization" ? RowKind::kLayerNorm : RowKind::kRmsNorm;
}

}  // namespace

std::string NormalizedRows::kernel() const {
  constexpr const char* kNames[] = {"softmax_f32", "log_softmax_f32", "layer_norm_f32", "rms_norm_f32"};
  return kNames[size_t(kind)];
}

std::optional<NormalizedRows> RowsOf(const Graph& graph, const Node& node, std::string* why) {
  const RowKind kind = KindOf(node.op);
  const bool softmax = kind == RowKind::kSoftmax || kind == RowKind::kLogSoftmax;
  if (!IsF32(graph, node.inputs[0])) return No("not f32", why);
  if (node.output(1) != kNoValue || node.output(2) != kNoValue) return No("the statistics are wanted", why);
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (x.rank() == 0 || x.Elements() == 0) return No("nothing to compute", why);
  const int64_t given = node.attributes.Int("axis", -1);
  const int axis = int(given < 0 ? given + x.rank() : given);
  const int64_t length = softmax ? x[axis] : x.Elements(axis, x.rank());
  if (softmax && x.Elements(axis + 1, x.rank()) != 1) return No("the axis is not the innermost one", why);
  for (size_t i = 1; !softmax && i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue && graph.value(node.inputs[i]).shape.Elements() != length)
      return No("the scale is broadcast", why);
  return NormalizedRows{kind, x.Elements() / length, length, node.attributes.Float("epsilon", 1e-5f)};
}

std::optional<Lrn> LrnOf(const Graph& graph, const Node& node, std::string* why) {
  const Attributes& a = node.attributes;
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (!IsNhwc(a) || !IsF32(graph, node.inputs[0])) return No("not f32 in NHWC", why);
  if (x.Elements() == 0) return No("nothing to compute", why);
  const LrnShape shape{x[3], a.Int("size", 1), a.Float("alpha", 1e-4f), a.Float("beta", 0.75f),
                       a.Float("bias", 1)};
  if (shape.channels > LrnShape::kMaxChannels || shape.size > LrnShape::kMaxSize)
    return No("too many channels", why);
  return Lrn{shape, x.Elements(0, 3)};
}

}  // namespace mete
