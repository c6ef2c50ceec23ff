// Conversions of Fourier transforms and of the complex numbers that they give.
#include <numeric>

#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

// The most numbers along the rows and along the columns of a transform: no matrix has more than 4096 x 2049
// elements, for which constant folding takes half a GiB (some 56 bytes for each, of i64, f64 and f32), a
// third of what it may have for a file (passes/pass.h). Matrices of further transforms are computed in each
// run.
constexpr int64_t kMostInRow = 4096, kMostInColumn = 2048;
constexpr double kTurn = 6.283185307179586;  // 2 pi

struct Waves {
  ValueId cos = kNoValue, sin = kNoValue;
};

// Returns matrices of the waves of all angles 2 pi row column / length, with rows from `first` on. Constant
// folding computes them when the file has been read, so that a file with many transforms takes no memory
// here. Integers modulo the length keep large products exact.
Waves WavesOf(const Op& op, int64_t first, int64_t rows, int64_t columns, int64_t length) {
  const auto count = [&](int64_t from, int64_t numbers, const Shape& shape) {
    Ints list(static_cast<size_t>(numbers));
    std::iota(list.begin(), list.end(), from);
    return op.Constant(Tensor::Of<int64_t>(DType::kI64, shape, list));
  };
  const ValueId products = op.Emit("Mul", {count(first, rows, {rows, 1}), count(0, columns, {1, columns})});
  const ValueId turns = op.Cast(op.Emit("Mod", {products, op.Integer(length)}), DType::kF64);
  const double turn = kTurn / double(length);
  const ValueId angles =
      op.Emit("Mul", {turns, op.Constant(Tensor::Of<double>(DType::kF64, {}, std::span(&turn, 1)))});
  return {op.Cast(op.Emit("Cos", {angles}), DType::kF32), op.Cast(op.Emit("Sin", {angles}), DType::kF32)};
}

// Returns the numbers from `begin` on along an axis, before `end` or, backwards, behind it.
ValueId Sliced(const Op& op, ValueId x, int axis, int64_t begin, int64_t end) {
  return op.Emit("Slice",
                 {x, op.Ints({begin}), op.Ints({end}), op.Ints({axis}), op.Ints({begin < end ? 1 : -1})});
}

// Returns the first `most` numbers along an axis.
ValueId Cropped(const Op& op, ValueId x, int axis, int64_t most) {
  return op.ShapeOf(x)[axis] <= most ? x : Sliced(op, x, axis, 0, most);
}

// Returns the transform of as many real numbers as it has along an axis, the last one, of which numbers n and
// length - n, which have the same cosines and the opposite sines, are added and subtracted first. That halves
// the product.
Complex OfPairs(const Op& op, ValueId x, int axis, int64_t length) {
  const int64_t pairs = (length - 1) / 2, half = length / 2;
  const ValueId low = Sliced(op, x, axis, 1, 1 + pairs),
                high = Sliced(op, x, axis, length - 1, length - 1 - pairs);
  std::vector<ValueId> sums = {Sliced(op, x, axis, 0, 1), op.Emit("Add", {low, high})};
  if (pairs < half) sums.push_back(Sliced(op, x, axis, half, half + 1));
  const Waves even = WavesOf(op, 0, half + 1, half + 1, length),
              odd = WavesOf(op, 1, pairs, half + 1, length);
  const ValueId sines = op.Emit("MatMul", {op.Emit("Sub", {low, high}), odd.sin});
  return {op.Emit("MatMul", {op.Emit("Concat", std::move(sums), AxisOf(axis)), even.cos}),
          op.Emit("Neg", {sines})};
}

// Returns the transform of real numbers along the last axis: the frequencies up to length / 2. Numbers that
// lack are zeros, for which the matrix has no rows.
Complex AlongRows(const Op& op, ValueId x, int64_t length) {
  const int axis = op.ShapeOf(x).rank() - 1;
  x = Cropped(op, x, axis, length);
  const int64_t given = op.ShapeOf(x)[axis];
  if (given == length && length > 2) return OfPairs(op, x, axis, length);
  const Waves waves = WavesOf(op, 0, given, length / 2 + 1, length);
  return {op.Emit("MatMul", {x, waves.cos}), op.Emit("Neg", {op.Emit("MatMul", {x, waves.sin})})};
}

// Returns the transform of complex numbers along the last axis but one.
//   sum (re + i im) (cos - i sin):  re cos + im sin,  im cos - re sin
Complex AlongColumns(const Op& op, Complex z, int64_t length) {
  const int axis = op.ShapeOf(z.real).rank() - 2;
  z = {Cropped(op, z.real, axis, length), Cropped(op, z.imaginary, axis, length)};
  const Waves waves = WavesOf(op, 0, length, op.ShapeOf(z.real)[axis], length);
  const auto product = [&](ValueId wave, ValueId part) { return op.Emit("MatMul", {wave, part}); };
  return {op.Emit("Add", {product(waves.cos, z.real), product(waves.sin, z.imaginary)}),
          op.Emit("Sub", {product(waves.cos, z.imaginary), product(waves.sin, z.real)})};
}

void RealTransform(Op& op) {
  const Ints lengths = op.IntsOf(1, "list of lengths");
  const Shape in = op.shape();
  if (in.rank() < 2 || op.info(0).type != DType::kF32)
    op.Bad("{} needs floats of at least 2 dimensions; got {} {}", op.kind(), Name(op.info(0).type),
           ToString(in));
  if (lengths.size() != 2 || lengths[0] < 1 || lengths[1] < 1)
    op.Bad("the lengths must be 2 positive numbers; got {}", fmt::join(lengths, ", "));
  if (lengths[0] > kMostInColumn || lengths[1] > kMostInRow)
    op.Unsupported(fmt::format("a transform of {} by {} numbers; expected at most {} by {}", lengths[0],
                               lengths[1], kMostInColumn, kMostInRow));
  Complex z = AlongRows(op, op.in(), lengths[1]);
  if (lengths[0] != 1 || in[in.rank() - 2] != 1) z = AlongColumns(op, z, lengths[0]);
  op.OutComplex(z);
}

Complex Argument(const Op& op) {
  const auto z = op.ComplexOf();
  if (!z) op.Unsupported("its input has no complex numbers");
  return *z;
}

void Magnitude(Op& op) {
  const Complex z = Argument(op);
  const auto square = [&](ValueId x) { return op.Emit("Mul", {x, x}); };
  op.OutRaw(0, Order::kFile, op.Emit("Sqrt", {op.Emit("Add", {square(z.real), square(z.imaginary)})}));
}

void RealPart(Op& op) { op.OutRaw(0, Order::kFile, Argument(op).real); }
void ImaginaryPart(Op& op) { op.OutRaw(0, Order::kFile, Argument(op).imaginary); }

using Code = tflite::BuiltinOperator;

constexpr Row kSpectraRows[] = {
    {Code::COMPLEX_ABS, 1, 1, 1, Magnitude},
    {Code::IMAG, 1, 1, 1, ImaginaryPart},
    {Code::REAL, 1, 1, 1, RealPart},
    {Code::RFFT2D, 2, 2, 1, RealTransform},
};

}  // namespace

std::span<const Row> SpectrumRows() { return kSpectraRows; }

}  // namespace mete::tflite_import
