#include "dispatch/bytes.h"

#include <cmath>

#include "base/fused.h"
#include "base/window.h"
#include "dispatch/pools.h"
#include "dispatch/quantized.h"
#include "dispatch/reason.h"

namespace mete {
namespace {

// Returns the scale and the zero point of a tensor, inputs i and i + 1, if they are constants.
std::optional<ByteScale> ByteScaleOf(const Graph& graph, const Node& node, size_t i) {
  const auto scale = ScaleOf(graph, node.inputs[i]);
  const auto level = LevelOf(graph, node.inputs[i + 1]);
  if (!scale || !level) return std::nullopt;
  return ByteScale{*scale, level->zero, level->type == DType::kI8};
}

// Cuts the output into rows, so that both operands are rows of it.
void CutIntoRows(const Shape& out, const ElementwiseInput& a, const ElementwiseInput& b, ByteOperation* of) {
  const bool channels = a.spread == Broadcast::kChannel || b.spread == Broadcast::kChannel;
  of->images = a.per_image || b.per_image ? out[0] : 1;
  of->length = channels ? out.back() : out.Elements() / of->images;
  of->rows = out.Elements() / of->images / of->length;
  const auto operand = [&](const ElementwiseInput& in) -> ByteOperation::Operand {
    if (in.spread == Broadcast::kFull) return {false, of->rows * of->length, of->length};
    if (in.spread == Broadcast::kScalar) return {true, 0, 0};
    return {false, in.per_image ? of->length : 0, 0};
  };
  of->a = operand(a);
  of->b = operand(b);
}

}  // namespace

std::optional<ByteTable> ByteTableOf(const Graph& graph, const Node& node, std::string* why) {
  const Shape& out = graph.value(node.outputs[0]).shape;
  if (!KnownAndNotEmpty(out)) return No("of unknown shape, or empty", why);
  return ByteTable{out.Elements()};
}

std::optional<ByteOperation> ByteOperationOf(const Graph& graph, const Node& node, std::string* why) {
  const auto a = ByteScaleOf(graph, node, 1), b = ByteScaleOf(graph, node, 4),
             y = ByteScaleOf(graph, node, 6);
  if (!a || !b || !y) return No("scales or zero points are not constants", why);
  const Shape& out = graph.value(node.outputs[0]).shape;
  if (!KnownAndNotEmpty(out)) return No("of unknown shape, or empty", why);
  const Shape &a_shape = graph.value(node.inputs[0]).shape, &b_shape = graph.value(node.inputs[3]).shape;
  const auto spread_a = ElementwiseInputOf(a_shape, out), spread_b = ElementwiseInputOf(b_shape, out);
  if (!spread_a || !spread_b)
    return No(ToString(a_shape) + " and " + ToString(b_shape) + " are broadcast to " + ToString(out), why);
  ByteOperation of;
  of.binary = node.op == "mete.QLinearMul" ? MakeByteProduct(*a, *b, *y) : MakeByteSum(*a, *b, *y);
  if (const Ints& levels = node.attributes.IntList(kLevels); !levels.empty()) {
    of.binary.least = float(levels[0]);
    of.binary.most = float(levels[1]);
  }
  CutIntoRows(out, *spread_a, *spread_b, &of);
  return of;
}

std::optional<BytePooling> BytePoolingOf(const Graph& graph, const Node& node, std::string* why) {
  if (!IsNhwc(node.attributes)) return No("not in NHWC", why);
  const Value& x = graph.value(node.inputs[0]);
  if (x.type != DType::kU8 && x.type != DType::kI8) return No("neither f32 nor bytes", why);
  if (!KnownAndNotEmpty(x.shape) || graph.value(node.outputs[0]).shape.Elements() == 0)
    return No("empty", why);
  BytePooling of;
  if (node.op == "MaxPool") {
    if (node.output(1) != kNoValue) return No("the indices are wanted", why);
    of.x.is_signed = of.y.is_signed = x.type == DType::kI8;
  } else {
    const auto from = ByteScaleOf(graph, node, 1), to = ByteScaleOf(graph, node, 3);
    if (!from || !to) return No("scales or zero points are not constants", why);
    of.x = *from;
    of.y = *to;
    of.kind = BytePooling::Kind::kAverage;
  }
  if (node.op == "mete.QLinearGlobalAveragePool") {
    of.kind = BytePooling::Kind::kGlobalAverage;
    if (x.shape[1] * x.shape[2] > kMostPooledPixels) return No("its sums may need more than 32 bits", why);
    return of;
  }
  auto shape = PoolShapeOf(graph, node, why);
  if (!shape) return std::nullopt;
  shape->kind = of.kind == BytePooling::Kind::kMax ? PoolKind::kMax : PoolKind::kAverage;
  of.shape = *shape;
  return of;
}

}  // namespace mete
