// Conversions of operators that take, place or find elements by index.
#include <algorithm>
#include <limits>

#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

// Returns the numbers from `first` to `last` - 1 behind those of `list`.
Ints Joined(Ints list, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) list.push_back(i);
  return list;
}

// Each batch takes its own elements along `axis`: the axis is moved behind the `batch` first dimensions, and
// what is taken goes back to its place.
ValueId GatherInBatches(const Op& op, int axis, int batch) {
  const Shape in = op.shape(), at = op.shape(1);
  const int taken = at.rank() - batch;
  Shape single = at;
  single.push_back(1);
  const Ints to_front = Joined(Joined(Joined({}, 0, batch), axis, axis + 1), batch, axis);
  Attributes a;
  a.Set("batch_dims", int64_t{batch});
  const ValueId y = op.Emit(
      "GatherND",
      {op.Transpose(op.in(), Joined(to_front, axis + 1, in.rank())), op.Reshape(op.Indices(1), single)},
      std::move(a));
  const int between = axis - batch;
  const Ints back = Joined(Joined({}, 0, batch), batch + taken, batch + taken + between);
  return op.Transpose(
      y, Joined(Joined(back, batch, batch + taken), batch + taken + between, op.ShapeOf(y).rank()));
}

void Gather(Op& op) {
  const auto* o = op.Find<tflite::GatherOptions>();
  const int axis = op.Axis(o ? o->axis() : 0, op.shape().rank());
  int batch = o ? o->batch_dims() : 0;
  if (batch == 0) return op.Out(0, Order::kFile, op.Emit("Gather", {op.in(), op.Indices(1)}, AxisOf(axis)));
  const int most = std::min(axis, op.shape(1).rank());
  if (batch < 0) batch += op.shape(1).rank();
  if (batch < 0 || batch > most) op.Bad("batch_dims is out of range; got {}, expected 0 to {}", batch, most);
  for (int i = 0; i < batch; ++i)
    if (op.shape()[i] != op.shape(1)[i])
      op.Bad("batch dimensions differ; got {} and {}", ToString(op.shape()), ToString(op.shape(1)));
  op.Out(0, Order::kFile, GatherInBatches(op, axis, batch));
}

void GatherNd(Op& op) { op.Out(0, Order::kFile, op.Emit("GatherND", {op.in(), op.Indices(1)})); }

// Rows of bytes become numbers when they are taken, so that a table of words stays in bytes.
void EmbeddingLookup(Op& op) {
  const ValueId rows = op.Indices(0);
  const auto& scales = op.info(1).scales;
  if (!scales || (!scales->one() && scales->axis != 0))
    return op.Out(0, Order::kFile, op.Emit("Gather", {op.in(1), rows}));
  std::vector<ValueId> taken = {op.Emit("Gather", {op.raw(1), rows})};
  for (const ValueId scale : op.ScaleOf(1))
    taken.push_back(scales->one() ? scale : op.Emit("Gather", {scale, rows}));
  op.Out(0, Order::kFile,
         op.Emit("DequantizeLinear", std::move(taken), scales->one() ? Attributes() : AxisOf(0)));
}

// Adds up what several indices place at one element, among zeros.
ValueId Scattered(const Op& op, ValueId sizes, ValueId indices, int updates) {
  if (op.info(updates).type == DType::kBool) op.Unsupported("it places booleans");
  Attributes a;
  a.Set("reduction", std::string("add"));
  const ValueId zeros = op.Emit("Expand", {op.ZeroLike(updates), sizes});
  return op.Emit("ScatterND", {zeros, indices, op.in(updates)}, std::move(a));
}

void ScatterNd(Op& op) { op.Out(0, Order::kFile, Scattered(op, op.Sizes(2), op.Indices(0), 1)); }

// Writes an update over a part of a tensor, from a computed place on, which is moved so that all of the
// update fits. Both are rows here: the axes behind the last one along which the update is smaller are one.
void DynamicUpdateSlice(Op& op) {
  const Shape in = op.shape(), update = op.shape(1);
  bool fits = in.rank() > 0 && update.rank() == in.rank() && op.shape(2) == Shape{in.rank()};
  int divided = 0;  // axes that an index counts
  for (int i = 0; fits && i < in.rank(); ++i) {
    fits = update[i] <= in[i];
    if (update[i] < in[i]) divided = i + 1;
  }
  if (!fits)
    op.Bad("{} has inputs that do not fit; got {}, {} and {}", op.kind(), ToString(in), ToString(update),
           ToString(op.shape(2)));
  ValueId rows = op.Integer(0);
  for (int i = 0; i < divided; ++i) {
    const ValueId first = op.Emit("Gather", {op.Indices(2), op.Integer(i)});
    const ValueId moved =
        op.Emit("Min", {op.Emit("Max", {first, op.Integer(0)}), op.Integer(in[i] - update[i])});
    const ValueId steps = op.Emit("Range", {op.Integer(0), op.Integer(update[i]), op.Integer(1)});
    rows = op.Emit("Add", {op.Emit("Mul", {op.Reshape(rows, {update.Elements(0, i), 1}), op.Integer(in[i])}),
                           op.Emit("Add", {moved, steps})});
  }
  const int64_t inner = in.Elements(divided, in.rank()), count = update.Elements(0, divided);
  const ValueId y =
      op.Emit("ScatterND", {op.Reshape(op.in(0), {in.Elements(0, divided), inner}),
                            op.Reshape(rows, {count, 1}), op.Reshape(op.in(1), {count, inner})});
  op.Out(0, Order::kFile, y, in);
}

// ONNX counts indices below zero from the end. Here they are outside, as those from the depth on are.
ValueId CountedFromZero(const Op& op, ValueId at) {
  constexpr int64_t kOutside = std::numeric_limits<int64_t>::max();
  return op.Emit("Where", {op.Emit("Less", {at, op.Integer(0)}), op.Integer(kOutside), at});
}

// Returns the shape of SEGMENT_SUM's output: as many rows as the largest number of a segment says.
ValueId SegmentSizes(const Op& op) {
  const Shape in = op.shape();
  Ints sizes(in.begin(), in.end());
  if (const auto segments = op.KnownInts(1)) {
    sizes[0] = 0;
    for (const int64_t segment : *segments) {
      if (segment < 0 || segment > std::numeric_limits<int32_t>::max())
        op.Bad("a segment must be from 0 to 2147483647; got {}", segment);
      sizes[0] = std::max(sizes[0], segment + 1);
    }
    return op.Ints(sizes);
  }
  const ValueId last = op.Emit("ReduceMax", {op.Indices(1), op.Ints({0})});
  sizes.erase(sizes.begin());
  return op.Emit("Concat", {op.Emit("Add", {last, op.Ints({1})}), op.Ints(sizes)}, AxisOf(0));
}

void SegmentSum(Op& op) {
  const Shape in = op.shape();
  if (in.rank() < 1 || op.shape(1) != Shape{in[0]})
    op.Bad("{} needs a segment for each row; got {} for {}", op.kind(), ToString(op.shape(1)), ToString(in));
  op.Out(0, Order::kFile,
         Scattered(op, SegmentSizes(op), op.Reshape(CountedFromZero(op, op.Indices(1)), {in[0], 1}), 0));
}

void OneHot(Op& op) {
  const auto* o = op.Find<tflite::OneHotOptions>();
  const ValueId inside = CountedFromZero(op, op.Indices(0));
  const ValueId off_on = op.Emit("Concat", {op.Reshape(op.in(3), {1}), op.Reshape(op.in(2), {1})}, AxisOf(0));
  op.Out(0, Order::kFile, op.Emit("OneHot", {inside, op.Sizes(1), off_on}, AxisOf(o ? o->axis() : -1)));
}

// The places of the elements that are not zero, one in each row.
void Where(Op& op) {
  const ValueId found = op.Cast(op.Emit("NonZero", {op.in()}), op.out_info().type);
  op.Out(0, Order::kFile, op.Transpose(found, {1, 0}));
}

// What differs, in the order of the first of each, and for each element which of them it is.
void Unique(Op& op) {
  Attributes a;
  a.Set("sorted", int64_t{0});
  const auto made = op.EmitAll("Unique", {op.in()}, std::move(a), 3);
  op.Out(0, Order::kFile, made[0]);
  if (op.outputs() > 1) op.Out(1, Order::kFile, op.Cast(made[2], op.out_info(1).type));
}

using Code = tflite::BuiltinOperator;

constexpr Row kIndicesRows[] = {
    {Code::DYNAMIC_UPDATE_SLICE, 3, 3, 1, DynamicUpdateSlice},
    {Code::EMBEDDING_LOOKUP, 2, 2, 1, EmbeddingLookup},
    {Code::GATHER, 2, 2, 1, Gather},
    {Code::GATHER_ND, 2, 2, 1, GatherNd},
    {Code::ONE_HOT, 4, 4, 1, OneHot},
    {Code::SCATTER_ND, 3, 3, 1, ScatterNd},
    {Code::SEGMENT_SUM, 2, 2, 1, SegmentSum},
    {Code::UNIQUE, 1, 1, 2, Unique},
    {Code::WHERE, 1, 1, 1, Where},
};

}  // namespace

std::span<const Row> IndexRows() { return kIndicesRows; }

}  // namespace mete::tflite_import
