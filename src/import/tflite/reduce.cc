// Conversions of reductions and of what looks for the largest elements.
#include <algorithm>

#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

// Returns the axes of a reduction, sorted, each once.
Ints AxesOf(const Op& op) {
  Ints axes;
  for (int64_t axis : op.IntsOf(1, "axes")) axes.push_back(op.Axis(axis, op.shape().rank()));
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

// Returns whether the dimensions that remain have the order of the file if those of `axes` are dropped in
// `order`.
bool KeepsOrder(Order order, const Ints& axes) {
  if (order == Order::kFile) return true;
  Ints remaining;
  for (int64_t axis = 0; axis < 4; ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) remaining.push_back(AxisIn(order, axis));
  return std::is_sorted(remaining.begin(), remaining.end());
}

Ints AxesIn(Order order, Ints axes) {
  for (int64_t& axis : axes) axis = AxisIn(order, axis);
  return axes;
}

void Reduce(Op& op) {
  const Ints axes = AxesOf(op);
  const auto* o = op.Find<tflite::ReducerOptions>();
  const bool keeps = o && o->keep_dims();
  Order order = op.AnyOrder();
  if (!keeps && !KeepsOrder(order, axes)) order = Order::kFile;
  Attributes a;
  a.Set("keepdims", int64_t{keeps});
  a.Set("noop_with_empty_axes", int64_t{1});
  const ValueId y = op.Emit(op.onnx(), {op.in(0, order), op.Ints(AxesIn(order, axes))}, std::move(a));
  op.Out(0, keeps ? order : Order::kFile, y);
}

// The mean of an image is a pool, which has kernels for bytes.
void Mean(Op& op) {
  const Shape in = op.shape();
  const bool numbers = op.info(0).type == DType::kF32 || op.info(0).scales;
  if (in.rank() != 4 || !numbers || AxesOf(op) != Ints{1, 2}) return Reduce(op);
  const auto* o = op.Find<tflite::ReducerOptions>();
  const ValueId y = op.Emit("GlobalAveragePool", {op.in(0, Order::kPlanar)});
  if (o && o->keep_dims()) op.Out(0, Order::kPlanar, y);
  else op.Out(0, Order::kFile, y, Shape{in[0], in[3]});
}

// Booleans are reduced as bytes of 0 and 1.
void ReduceBool(Op& op) {
  const auto* o = op.Find<tflite::ReducerOptions>();
  Attributes a;
  a.Set("keepdims", int64_t{o && o->keep_dims()});
  a.Set("noop_with_empty_axes", int64_t{1});
  const ValueId y = op.Emit(op.onnx(), {op.Cast(op.in(), DType::kU8), op.Ints(AxesOf(op))}, std::move(a));
  op.Out(0, Order::kFile, op.Cast(y, DType::kBool));
}

void ArgExtreme(Op& op) {
  const int64_t axis = op.Axis(op.IntOf(1, "axis"), op.shape().rank());
  const Order order = KeepsOrder(op.AnyOrder(), {axis}) ? op.AnyOrder() : Order::kFile;
  Attributes a;
  a.Set("axis", AxisIn(order, axis));
  a.Set("keepdims", int64_t{0});
  op.Out(0, Order::kFile, op.Cast(op.Emit(op.onnx(), {op.in(0, order)}, std::move(a)), op.out_info().type));
}

void TopK(Op& op) {
  if (op.shape().rank() < 1) op.Bad("{} needs a dimension; got a scalar", op.kind());
  const auto top = op.EmitAll("TopK", {op.in(), op.Ints({op.IntOf(1, "k")})}, {}, 2);
  op.Out(0, Order::kFile, top[0]);
  if (op.outputs() > 1) op.Out(1, Order::kFile, op.Cast(top[1], op.out_info(1).type));
}

void CumSum(Op& op) {
  const auto* o = op.Find<tflite::CumsumOptions>();
  Attributes a;
  a.Set("exclusive", int64_t{o && o->exclusive()});
  a.Set("reverse", int64_t{o && o->reverse()});
  const int64_t axis = op.Axis(op.IntOf(1, "axis"), op.shape().rank());
  op.Out(0, Order::kFile, op.Emit("CumSum", {op.in(), op.Integer(axis)}, std::move(a)));
}

using Code = tflite::BuiltinOperator;

constexpr Row kReduceRows[] = {
    {Code::ARG_MAX, 2, 2, 1, ArgExtreme, "ArgMax"},
    {Code::ARG_MIN, 2, 2, 1, ArgExtreme, "ArgMin"},
    {Code::CUMSUM, 2, 2, 1, CumSum},
    {Code::MEAN, 2, 2, 1, Mean, "ReduceMean"},
    {Code::REDUCE_ALL, 2, 2, 1, ReduceBool, "ReduceMin"},
    {Code::REDUCE_ANY, 2, 2, 1, ReduceBool, "ReduceMax"},
    {Code::REDUCE_MAX, 2, 2, 1, Reduce, "ReduceMax"},
    {Code::REDUCE_MIN, 2, 2, 1, Reduce, "ReduceMin"},
    {Code::REDUCE_PROD, 2, 2, 1, Reduce, "ReduceProd"},
    {Code::SUM, 2, 2, 1, Reduce, "ReduceSum"},
    {Code::TOPK_V2, 2, 2, 2, TopK},
};

}  // namespace

std::span<const Row> ReduceRows() { return kReduceRows; }

}  // namespace mete::tflite_import
