#include "dispatch/bytes.h"

#include <algorithm>
#include <cmath>

#include "base/fused.h"
#include "base/window.h"
#include "dispatch/pools.h"
#include "dispatch/quantized.h"
#include "dispatch/reason.h"
#include "kernels/fast/elementwise/broadcast.h"

namespace mete {
namespace {

// Returns the scale and the zero point of a tensor, inputs i and i + 1, if they are constants.
std::optional<ByteScale> ByteScaleOf(const Graph& graph, const Node& node, size_t i) {
  const auto scale = ScaleOf(graph, node.inputs[i]);
  const auto level = LevelOf(graph, node.inputs[i + 1]);
  if (!scale || !level) return std::nullopt;
  return ByteScale{*scale, level->zero, level->type == DType::kI8};
}

// Cuts the output into rows, so that the operands are rows of it: of each image or of all of them (the gate
// of a squeeze-and-excite block is one for each image). Returns false if an operand is broadcast in another
// way.
bool CutIntoRows(int64_t elements, const BroadcastInput& a, const BroadcastInput& b, ByteOperation* of) {
  for (const BroadcastInput* in : {&a, &b}) {
    if (in->spread != Broadcast::kRuns) continue;
    const int64_t length = in->dims[size_t(in->rank - 1)];
    if (of->length > 1 && of->length != length) return false;
    of->length = length;
    if (in->rank == 3) of->images = in->dims[0];
  }
  if (of->length == 1) of->length = elements;
  of->rows = elements / of->images / of->length;
  const auto operand = [&](const BroadcastInput& in, ByteOperation::Operand* to) {
    const auto is = [&](std::initializer_list<int64_t> strides) {
      return std::equal(strides.begin(), strides.end(), in.strides.begin(), in.strides.begin() + in.rank);
    };
    if (in.spread == Broadcast::kFull) *to = {false, of->rows * of->length, of->length};
    else if (in.spread == Broadcast::kScalar) *to = {true, 0, 0};
    else if (is({0, 1})) *to = {false, 0, 0};
    else if (is({of->length, 0, 1}) && in.dims[0] == of->images) *to = {false, of->length, 0};
    else return false;
    return true;
  };
  return operand(a, &of->a) && operand(b, &of->b);
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
  ByteOperation of;
  if (!CutIntoRows(out.Elements(), BroadcastOf(a_shape, out), BroadcastOf(b_shape, out), &of))
    return No(ToString(a_shape) + " and " + ToString(b_shape) + " are broadcast to " + ToString(out), why);
  of.binary = node.op == "mete.QLinearMul" ? MakeByteProduct(*a, *b, *y) : MakeByteSum(*a, *b, *y);
  if (const Ints& levels = node.attributes.IntList(kLevels); !levels.empty()) {
    of.binary.least = float(levels[0]);
    of.binary.most = float(levels[1]);
  }
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
