// Conversions of operators that make elements of shapes, sizes and limits.
#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

void BroadcastTo(Op& op) { op.Out(0, Order::kFile, op.Emit("Expand", {op.in(), op.Sizes(1)})); }

void Fill(Op& op) { op.OutRaw(0, Order::kFile, op.Emit("Expand", {op.Reshape(op.raw(1), {}), op.Sizes(0)})); }

void ZerosLike(Op& op) { op.Out(0, Order::kFile, op.Emit("Expand", {op.ZeroLike(0), op.SizesOf(0)})); }

void Range(Op& op) { op.Out(0, Order::kFile, op.Emit("Range", {op.in(0), op.in(1), op.in(2)})); }

void Rank(Op& op) { op.OutInts(0, {op.shape().rank()}, {}); }

// The shapes of most values of a loaded model are known.
void ShapeOf(Op& op) {
  if (op.is_open()) return op.Out(0, Order::kFile, op.Cast(op.SizesOf(0), op.out_info().type));
  const Shape in = op.shape();
  op.OutInts(0, Ints(in.begin(), in.end()), {in.rank()});
}

using Code = tflite::BuiltinOperator;

constexpr Row kMakesRows[] = {
    {Code::BROADCAST_TO, 2, 2, 1, BroadcastTo},
    {Code::FILL, 2, 2, 1, Fill},
    {Code::RANGE, 3, 3, 1, Range},
    {Code::RANK, 1, 1, 1, Rank},
    {Code::SHAPE, 1, 1, 1, ShapeOf},
    {Code::ZEROS_LIKE, 1, 1, 1, ZerosLike},
};

}  // namespace

std::span<const Row> MakeRows() { return kMakesRows; }

}  // namespace mete::tflite_import
