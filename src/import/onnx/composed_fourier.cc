// Fourier transforms as products with a matrix of sines and cosines, which constant folding makes where
// lengths are constants. A product takes N^2 operations in place of N log N; frames of speech have some
// hundreds of samples, for which a product of packed panels is fast. A longer DFT of A B numbers is one of
// length A and one of length B (Cooley and Tukey), as long as the lengths have divisors.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "import/onnx/composed.h"
#include "import/onnx/microsoft_build.h"
#include "import/onnx/shapes.h"

namespace mete::onnx_import {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
constexpr double kTurn = 6.283185307179586;  // 2 pi
// The longest transform by one product. Guess: the matrix of a complex one of 512 numbers takes 4 MiB in f32,
// as much as fits a large second-level cache.
constexpr int64_t kMostDirect = 512;
// Elements of a matrix: in f64, as the matrix is made, they take 512 MiB, as much as the weights of VGG-16 in
// f32. A complex transform has at most 4096 numbers then, and a one-sided one of real numbers 8192.
constexpr double kMostElements = 1 << 26;

// A transform along the last axis but one of numbers whose parts are the last axis: one part, or real and
// imaginary.
struct Transform {
  ValueId length = kNoValue;  // N, i64, one element of rank 1
  int64_t parts = 2;          // of the input
  bool inverse = false;
  bool onesided =
      false;  // frequencies above N / 2 are left out: of the result, or of an inverse transform's input
  bool whole = false;  // the input has N numbers: none lacks, and none is left out
};

ValueId Joined(Upgrade& u, ValueId a, ValueId b, int64_t axis) {
  return Op(u, "Concat", {a, b}, "axis", axis);
}

ValueId HalfAndOne(Upgrade& u, ValueId length) {
  return Op(u, "Add", {Op(u, "Div", {length, Constant(u, {2})}), Constant(u, {1})});
}

// Returns 2 pi (i k modulo N) / N for rows i and columns k. Integers keep large products exact.
ValueId Angles(Upgrade& u, ValueId rows, ValueId columns, ValueId length) {
  const ValueId products =
      Op(u, "Mul", {Unsqueezed(u, CountTo(u, rows), {1}), Unsqueezed(u, CountTo(u, columns), {0})});
  const ValueId turns = CastTo(u, Op(u, "Mod", {products, length}), "f64");
  return Op(u, "Mul", {Op(u, "Div", {turns, CastTo(u, length, "f64")}), RealConstant(u, kTurn)});
}

ValueId ColumnsOf(Upgrade& u, const Transform& t) {
  return t.onesided && !t.inverse ? HalfAndOne(u, t.length) : t.length;
}

// Returns the matrix whose product with `rows` numbers, each with its parts, is the transform.
//   y = sum x e^(-+ i a):  re = xr cos(a) +- xi sin(a), im = xi cos(a) -+ xr sin(a)
ValueId ComplexMatrix(Upgrade& u, const Transform& t, ValueId rows) {
  const ValueId columns = ColumnsOf(u, t);
  const ValueId angles = Angles(u, rows, columns, t.length);
  ValueId cos = Op(u, "Cos", {angles}), sin = Op(u, "Sin", {angles});
  if (t.inverse) {
    const ValueId n = CastTo(u, t.length, "f64");
    cos = Op(u, "Div", {cos, n});
    sin = Op(u, "Neg", {Op(u, "Div", {sin, n})});
  }
  const auto wide = [&](ValueId x) { return Unsqueezed(u, x, {1, 3}); };  // rows x 1 x columns x 1
  ValueId matrix = Joined(u, wide(cos), wide(Op(u, "Neg", {sin})), 3);
  if (t.parts == 2) matrix = Joined(u, matrix, Joined(u, wide(sin), wide(cos), 3), 1);
  const ValueId width = Op(u, "Mul", {columns, Constant(u, {2})});
  return Op(u, "Reshape", {matrix, Joined(u, Constant(u, {-1}), width, 0)});
}

// The same for an inverse transform of the frequencies up to N / 2 to N real numbers. Each frequency stands
// for itself and for its mirror image, but 0 and N / 2, which have none.
ValueId RealMatrix(Upgrade& u, const Transform& t, ValueId rows) {
  const ValueId angles = Angles(u, rows, t.length, t.length);
  const ValueId k = CountTo(u, rows);
  const ValueId alone = Op(u, "Or",
                           {Op(u, "Equal", {k, Constant(u, {0})}),
                            Op(u, "Equal", {Op(u, "Mul", {k, Constant(u, {2})}), t.length})});
  const ValueId times = Op(u, "Where", {alone, RealConstant(u, 1), RealConstant(u, 2)});
  const ValueId factor = Unsqueezed(u, Op(u, "Div", {times, CastTo(u, t.length, "f64")}), {1});
  const auto part = [&](ValueId x) { return Unsqueezed(u, Op(u, "Mul", {x, factor}), {1}); };
  const ValueId matrix =
      Joined(u, part(Op(u, "Cos", {angles})), part(Op(u, "Neg", {Op(u, "Sin", {angles})})), 1);
  return Op(u, "Reshape", {matrix, Joined(u, Constant(u, {-1}), t.length, 0)});
}

// Returns a shape for a Reshape: the dimensions of a value of `rank` without the last two, and `last` behind
// them. No -1 is in it, which would stand for nothing where there is no element.
ValueId Outer(Upgrade& u, int rank, std::initializer_list<ValueId> last) {
  std::vector<ValueId> dims(last);
  if (rank > 2) {
    const std::vector<int64_t> kept(size_t(rank - 2), 0);
    dims.insert(dims.begin(),
                u.graph.AddConstant(u.names.Unique(u.node.name + "/constant"), Tensor::Ints(kept)));
  }
  return u.Emit("Concat", "shape", std::move(dims), With("axis", int64_t{0}));
}

// Returns the transform of `x`, which has `rank` dimensions.
ValueId Transformed(Upgrade& u, const Transform& t, ValueId x, int rank) {
  const bool to_reals = t.inverse && t.onesided;
  // What lies behind the transform's length is dropped; what lacks is zeros, for which the matrix has no
  // rows.
  if (!t.whole)
    x = Op(u, "Slice",
           {x, Constant(u, {0}), to_reals ? HalfAndOne(u, t.length) : t.length, Constant(u, {-2})});
  const ValueId rows = t.whole ? t.length : DimsOf(u, x, -2, -1);
  const ValueId matrix = to_reals ? RealMatrix(u, t, rows) : ComplexMatrix(u, t, rows);
  const ValueId width = Op(u, "Mul", {rows, Constant(u, {t.parts})});
  const ValueId flat = Op(u, "Reshape", {x, Outer(u, rank, {width})});
  const ValueId product = Op(u, "MatMul", {flat, Op(u, "CastLike", {matrix, x})});
  const ValueId parts = Constant(u, {to_reals ? 1 : 2});
  return Op(u, "Reshape", {product, Outer(u, rank, {ColumnsOf(u, t), parts})});
}

// Returns the number of parts of the numbers of `x`; reports an `x` for which it is not known, and returns 0.
int64_t PartsOf(Upgrade& u, const Transform& t, ValueId x, int least_rank) {
  const Shape shape = u.shapes ? u.shapes->Of(u.graph, x) : Shape::Unknown();
  if (!shape.known()) {
    if (t.onesided && !t.inverse) return 1;  // of complex numbers the node would be an error
    return u.Unsupported("the shape of its input is not known before the model runs"), 0;
  }
  const int64_t last = shape.rank() < 1 ? 0 : shape[shape.rank() - 1];
  if (shape.rank() >= least_rank && (last == 1 || last == 2)) return last;
  u.Bad("its input; got {}, expected at least {} dimensions, the last of which is 1 (real) or 2 (complex)",
        ToString(shape), least_rank);
  return 0;
}

// Reports what a transform cannot be, and returns false.
bool CheckSides(Upgrade& u, const Transform& t) {
  if (t.onesided && !t.inverse && t.parts == 2) {
    u.Bad("onesided=1 with complex input; expected real input, whose frequencies are symmetric");
    return false;
  }
  if (t.onesided && t.inverse && t.parts == 1) {
    u.Bad("onesided=1 and inverse=1 with real input; expected complex input");
    return false;
  }
  return true;
}

// Returns the axis of a DFT of `rank` dimensions as the node says it, perhaps counted from the end: an
// attribute before opset 20, and a constant input 2 since. Reports one that is out of range or no integer,
// and returns nothing.
std::optional<int64_t> ConstantAxis(Upgrade& u, int64_t rank) {
  int64_t axis = u.node.attributes.Int("axis", -2);
  if (const ValueId told = u.input(2); told != kNoValue) {
    const Tensor& value = u.graph.value(told).constant;
    if (value.elements() != 1 || (value.type() != DType::kI64 && value.type() != DType::kI32)) {
      u.Bad("axis; got {} {}, expected one integer", Name(value.type()), ToString(value.shape()));
      return std::nullopt;
    }
    axis = value.type() == DType::kI64 ? value.as<int64_t>()[0] : value.as<int32_t>()[0];
  }
  if (axis >= -rank && axis <= rank - 2 && axis != -1) return axis;
  u.Bad("axis; got {}, expected -{} to -2 or 0 to {}", axis, rank, rank - 2);
  return std::nullopt;
}

ValueId Exchanged(Upgrade& u, ValueId x, int64_t rank, int64_t a, int64_t b) {
  if (a == b) return x;
  mete::Ints order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[size_t(a)], order[size_t(b)]);
  return Into(u, kNoValue, "Transpose", {x}, With("perm", std::move(order)));
}

// Returns the integer that `id` has as a constant of one element; -1 if it is none.
int64_t ConstantCount(Upgrade& u, ValueId id) {
  if (id == kNoValue || !u.graph.value(id).is_constant()) return -1;
  const Tensor& value = u.graph.value(id).constant;
  if (value.elements() != 1) return -1;
  if (value.type() == DType::kI32) return value.as<int32_t>()[0];
  return value.type() == DType::kI64 ? value.as<int64_t>()[0] : -1;
}

// Reports a transform whose matrix has too many elements, as far as the length is known, and returns false.
bool CheckMatrix(Upgrade& u, const Transform& t, int64_t length) {
  const double ways = t.onesided ? 1 : 2 * double(t.parts);  // one-sided: half of the rows or of the columns
  const double elements = double(length) * double(length) * ways;
  if (elements <= kMostElements) return true;
  u.Unsupported(fmt::format(
      "a transform of {} numbers is a product with a matrix of {:.0f} elements; expected at most {:.0f}",
      length, elements, kMostElements));
  return false;
}

// Returns the largest divisor of a length that is not above its root.
int64_t DivisorOf(int64_t length) {
  int64_t divisor = 1;
  for (int64_t i = 2; i <= length / i; ++i)
    if (length % i == 0) divisor = i;
  return divisor;
}
// The same of a value.
ValueId DivisorOf(Upgrade& u, ValueId length) {
  const ValueId root = CastTo(u, Op(u, "Sqrt", {CastTo(u, length, "f64")}), "i64"), one = Constant(u, {1});
  const ValueId candidates = Op(u, "Add", {CountTo(u, root), one});
  const ValueId divides = Op(u, "Equal", {Op(u, "Mod", {length, candidates}), Constant(u, {0})});
  return Op(u, "ReduceMax", {Op(u, "Where", {divides, candidates, one})});
}

ValueId ShapedAs(Upgrade& u, ValueId x, Values dims) {
  const ValueId shape = Into(u, kNoValue, "Concat", dims, With("axis", int64_t{0}));
  return Op(u, "Reshape", {x, shape}, "allowzero", 1);
}

// Returns complex numbers x e^(-+ i a).
ValueId Turned(Upgrade& u, ValueId x, ValueId angles, bool inverse) {
  const ValueId cos = Unsqueezed(u, Op(u, "Cos", {angles}), {2}),
                up = Unsqueezed(u, Op(u, "Sin", {angles}), {2});
  const ValueId down = Op(u, "Neg", {up});
  const ValueId sines = inverse ? Joined(u, down, up, 2) : Joined(u, up, down, 2);
  const ValueId swapped = Op(u, "Gather", {x, Constant(u, {1, 0})}, "axis", -1);
  return Op(u, "Add",
            {Op(u, "Mul", {x, Op(u, "CastLike", {cos, x})}),
             Op(u, "Mul", {swapped, Op(u, "CastLike", {sines, x})})});
}

// Returns the transform of `x` in two steps, where the length is A B. With n = B n1 + n2 and k = k1 + A k2,
//   y[k] = sum over n2 of e^(-i a n2 k2 / B) (e^(-i a n2 k1 / N) sum over n1 of x[n] e^(-i a n1 k1 / A)), a = 2 pi
ValueId TransformedInTwoSteps(Upgrade& u, const Transform& t, ValueId x) {
  const ValueId first = Constant(u, {0}), axis = Constant(u, {-2});
  x = Op(u, "Slice", {x, first, t.length, axis});
  const ValueId lacks = Op(u, "Sub", {t.length, DimsOf(u, x, -2, -1)});
  x = Op(u, "Pad", {x, Joined(u, first, lacks, 0), kNoValue, axis});
  const ValueId outer = DimsOf(u, x, 0, -2), a = DivisorOf(u, t.length), b = Op(u, "Div", {t.length, a});
  x = ShapedAs(u, x, {Op(u, "ReduceProd", {outer}), a, b, Constant(u, {t.parts})});
  ValueId y = Transformed(u, {a, t.parts, t.inverse, false}, Permuted(u, x, {0, 2, 1, 3}), 4);
  y = Turned(u, y, Angles(u, b, a, t.length), t.inverse);
  y = Transformed(u, {b, 2, t.inverse, false}, Permuted(u, y, {0, 2, 1, 3}), 4);
  y = ShapedAs(u, Permuted(u, y, {0, 2, 1, 3}), {outer, t.length, Constant(u, {2})});
  return t.onesided ? Op(u, "Slice", {y, first, HalfAndOne(u, t.length), axis}) : y;
}

// Returns the transform of `x`, which has `rank` dimensions and a length of about `known`.
ValueId FastestTransformed(Upgrade& u, const Transform& t, ValueId x, int rank, int64_t known) {
  const bool to_reals = t.inverse && t.onesided;
  return known <= kMostDirect || to_reals ? Transformed(u, t, x, rank) : TransformedInTwoSteps(u, t, x);
}

// Returns the length of a DFT of `x` along `axis` for the sizes that are known.
int64_t KnownLength(Upgrade& u, const Transform& t, ValueId x, int axis) {
  if (u.input(1) != kNoValue) return ConstantCount(u, u.input(1));
  const int64_t size = u.shapes->Of(u.graph, x)[axis];
  return t.inverse && t.onesided && size > 1 ? 2 * (size - 1) : size;
}

// Reports a DFT of a length that is too large for one product and has no divisors, and returns false.
bool CheckLength(Upgrade& u, const Transform& t, int64_t length) {
  // The larger factor is at least the root, and both parts of a number make a matrix of four times its
  // square.
  constexpr double kMostLength = kMostElements / 4;
  const Transform whole{kNoValue, 2, t.inverse, false};
  if (double(length) > kMostLength) return CheckMatrix(u, whole, length);
  if (length <= kMostDirect || (t.inverse && t.onesided)) return CheckMatrix(u, t, length);
  return CheckMatrix(u, whole, length / DivisorOf(length));
}

ValueId AsCount(Upgrade& u, ValueId x) { return CastTo(u, Reshaped(u, x, {1}), "i64"); }

// Returns the length of a transform of `dim` numbers whose node does not say another one.
ValueId LengthOf(Upgrade& u, const Transform& t, ValueId dim) {
  if (u.input(1) != kNoValue) return AsCount(u, u.input(1));
  if (!t.inverse || !t.onesided) return dim;
  return Op(u, "Mul", {Op(u, "Sub", {dim, Constant(u, {1})}), Constant(u, {2})});
}

// Returns the place of an axis that another node or the caller computes, counted from the first dimension.
// The last dimension has the parts of a number and is no axis: `rank` stands for it, which is no place among
// the dimensions, so that looking it up fails.
ValueId ComputedAxis(Upgrade& u, int64_t rank) {
  mete::Ints places(static_cast<size_t>(rank));
  std::iota(places.begin(), places.end(), 0);
  places.back() = rank;
  const ValueId list = u.graph.AddConstant(u.names.Unique(u.node.name + "/axes"), Tensor::Ints(places));
  return Op(u, "Gather", {list, AsCount(u, u.input(2))}, "axis", 0);
}

// Makes the node the transform of `x` along a dimension `dim`. The dimensions before and behind it are joined
// to one each, so that the axis is the second one of four. `longest`: the largest length that is known.
void TransformAlong(Upgrade& u, Transform t, ValueId x, ValueId before, ValueId dim, ValueId behind,
                    int64_t longest) {
  t.length = LengthOf(u, t, dim);
  x = ShapedAs(u, x,
               {Op(u, "ReduceProd", {before}), dim, Op(u, "ReduceProd", {behind}), Constant(u, {t.parts})});
  x = Permuted(u, FastestTransformed(u, t, Permuted(u, x, {0, 2, 1, 3}), 4, longest), {0, 2, 1, 3});
  const bool to_reals = t.inverse && t.onesided;
  Become(u, "Identity", {ShapedAs(u, x, {before, ColumnsOf(u, t), behind, Constant(u, {to_reals ? 1 : 2})})});
}

// The same along an axis that is not known before the model runs.
void TransformAlongComputedAxis(Upgrade& u, const Transform& t, ValueId x, int64_t rank) {
  const ValueId axis = ComputedAxis(u, rank), dims = DimsOf(u, x, 0, kEnd);
  const ValueId dim = Op(u, "Gather", {dims, axis}, "axis", 0), first = Constant(u, {0});
  const ValueId before = Op(u, "Slice", {dims, first, axis, first});
  const ValueId next = Op(u, "Add", {axis, Constant(u, {1})});
  const ValueId behind = Op(u, "Slice", {dims, next, Constant(u, {rank - 1}), first});
  int64_t longest = u.input(1) == kNoValue ? 0 : ConstantCount(u, u.input(1));
  if (const Shape shape = u.shapes->Of(u.graph, x); u.input(1) == kNoValue)
    longest = *std::max_element(shape.begin(), shape.end());
  if (u.input(1) != kNoValue && !CheckLength(u, t, longest)) return;
  TransformAlong(u, t, x, before, dim, behind, longest);
}

// The same of a value whose number of dimensions follows from arithmetic that is folded later.
void TransformOfUnknownRank(Upgrade& u, const Transform& t, ValueId x) {
  const int64_t length = ConstantCount(u, u.input(1));
  if (length < 1) return u.Unsupported("neither its dft_length nor the shape of its input is known");
  const auto axis = ConstantAxis(u, Shape::kMaxRank);
  if (!axis || !CheckLength(u, t, length)) return;
  if (*axis > 1)
    return u.Unsupported("its axis is counted from the first one, and the shape of its input is not known");
  TransformAlong(u, t, x, DimsOf(u, x, 0, *axis), DimOf(u, x, *axis), DimsOf(u, x, *axis + 1, -1), length);
}

}  // namespace

void ExpandDft(Upgrade& u) {
  ValueId x = u.input(0);
  Transform t;
  t.inverse = u.node.attributes.Int("inverse", 0) != 0;
  t.onesided = u.node.attributes.Int("onesided", 0) != 0;
  t.parts = PartsOf(u, t, x, 2);
  if (t.parts == 0 || !CheckSides(u, t)) return;
  const int rank = RankOf(u, x);
  if (const ValueId length = u.input(1); length != kNoValue && u.graph.value(length).is_constant())
    if (const int64_t count = ConstantCount(u, length); count < 1)
      return u.Bad("dft_length; got {}, expected an integer of at least 1", count);
  const ValueId told = u.input(2);
  const bool computed = told != kNoValue && !u.graph.value(told).is_constant();
  if (rank < 0 && computed) return u.Unsupported("neither its axis nor the shape of its input is known");
  if (rank < 0) return TransformOfUnknownRank(u, t, x);
  if (computed) return TransformAlongComputedAxis(u, t, x, rank);
  const auto told_axis = ConstantAxis(u, rank);
  if (!told_axis) return;
  const int64_t axis = *told_axis < 0 ? *told_axis + rank : *told_axis;
  const int64_t known = KnownLength(u, t, x, int(axis));
  if (!CheckLength(u, t, known)) return;
  x = Exchanged(u, x, rank, axis, rank - 2);
  t.length = LengthOf(u, t, DimsOf(u, x, -2, -1));
  Become(u, "Identity", {Exchanged(u, FastestTransformed(u, t, x, rank, known), rank, axis, rank - 2)});
}

namespace {

// Returns the length of a frame; -1 if it is not known before the model runs.
int64_t KnownFrame(Upgrade& u, ValueId signal) {
  if (u.input(3) != kNoValue) return ConstantCount(u, u.input(3));
  if (u.input(2) == kNoValue) {
    const Shape of = u.shapes->Of(u.graph, signal);
    return of.known() ? of[1] : -1;
  }
  const Shape window = u.shapes->Of(u.graph, u.input(2));
  return window.known() && window.rank() == 1 ? window[0] : -1;
}

}  // namespace

// The signal (batch x samples x parts), the step from frame to frame, an optional window, and an optional
// length of a frame, which is that of the window otherwise.
void ExpandStft(Upgrade& u) {
  ValueId signal = u.input(0);
  const int rank = RankOf(u, signal);
  if (rank == 2) signal = Unsqueezed(u, signal, {2});
  Transform t;
  t.onesided = u.node.attributes.Int("onesided", 1) != 0;
  t.parts = PartsOf(u, t, signal, 3);
  if (t.parts == 0 || !CheckSides(u, t)) return;
  if (rank < 0 && u.input(2) == kNoValue && u.input(3) == kNoValue)
    return u.Unsupported("neither its frame_length nor the shape of its input is known");
  // Of batch x samples as well; of complex numbers the numbers of elements differ.
  if (rank < 0) signal = ShapedAs(u, signal, {DimsOf(u, signal, 0, 2), Constant(u, {1})});
  const ValueId samples = DimsOf(u, signal, 1, 2), window = u.input(2);
  t.length = samples;
  if (u.input(3) != kNoValue) t.length = AsCount(u, u.input(3));
  else if (window != kNoValue) t.length = DimsOf(u, window, 0, kEnd);
  for (const auto& [i, what] : {std::pair(size_t(1), "frame_step"), std::pair(size_t(3), "frame_length")})
    if (const ValueId given = u.input(i); given != kNoValue && u.graph.value(given).is_constant())
      if (const int64_t count = ConstantCount(u, given); count < 1)
        return u.Bad("{}; got {}, expected an integer of at least 1", what, count);
  if (!CheckMatrix(u, t, KnownFrame(u, signal))) return;
  const ValueId step = AsCount(u, u.input(1));
  // A signal that is shorter than a frame has none.
  const ValueId behind = Op(u, "Sub", {Op(u, "Add", {samples, step}), t.length});
  const ValueId frames = Op(u, "Max", {Op(u, "Div", {behind, step}), Constant(u, {0})});
  const ValueId begins = Unsqueezed(u, Op(u, "Mul", {CountTo(u, frames), step}), {1});
  const ValueId places = Op(u, "Add", {begins, Unsqueezed(u, CountTo(u, t.length), {0})});
  ValueId framed = Op(u, "Gather", {signal, places}, "axis", 1);  // batch x frames x length x parts
  if (window != kNoValue) framed = Op(u, "Mul", {framed, Unsqueezed(u, window, {1})});
  t.whole = true;
  Become(u, "Identity", {Transformed(u, t, framed, 4)});
}

}  // namespace mete::onnx_import
