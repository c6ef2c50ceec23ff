// Computes operators of few known integers while the model is read: writers compute the sizes that a Reshape
// gets from the shapes of other tensors, and those are known here.
#include <algorithm>
#include <limits>

#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

using Code = tflite::BuiltinOperator;

constexpr size_t kMost = 1024;  // numbers of all inputs together: sizes are few

bool IsInt(DType type) { return type == DType::kI32 || type == DType::kI64; }

// Returns the quotient or the remainder of a division that rounds down. The most negative number is no size.
std::optional<int64_t> Divided(Code code, int64_t a, int64_t b) {
  if (b == 0 || a == std::numeric_limits<int64_t>::min()) return std::nullopt;
  const int64_t rest = a % b, quotient = a / b;
  const bool above = rest != 0 && (rest < 0) != (b < 0);  // rounded towards zero, the quotient is too large
  return code == Code::FLOOR_MOD ? rest + (above ? b : 0) : quotient - above;
}

// Sums and products wrap, as those of the format do.
std::optional<int64_t> Combined(Code code, int64_t a, int64_t b) {
  switch (code) {
    case Code::ADD: return int64_t(uint64_t(a) + uint64_t(b));
    case Code::SUB: return int64_t(uint64_t(a) - uint64_t(b));
    case Code::MUL: return int64_t(uint64_t(a) * uint64_t(b));
    case Code::FLOOR_DIV:
    case Code::FLOOR_MOD: return Divided(code, a, b);
    case Code::MAXIMUM: return std::max(a, b);
    case Code::MINIMUM: return std::min(a, b);
    default: return std::nullopt;
  }
}

bool HasActivation(const Op& op) {
  switch (op.code()) {
    case Code::ADD: return op.ActivationOf<tflite::AddOptions>() != tflite::Activation::NONE;
    case Code::SUB: return op.ActivationOf<tflite::SubOptions>() != tflite::Activation::NONE;
    case Code::MUL: return op.ActivationOf<tflite::MulOptions>() != tflite::Activation::NONE;
    default: return false;
  }
}

bool FoldBinary(Op& op, const Ints& a, const Ints& b) {
  if (HasActivation(op)) return false;  // sizes have none
  if (a.empty() || b.empty()) return false;
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return false;
  Ints values;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const auto value = Combined(op.code(), a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    if (!value) return false;
    values.push_back(*value);
  }
  const int wide = op.shape(0).rank() >= op.shape(1).rank() ? 0 : 1;
  op.OutInts(0, values, op.shape(wide).rank() == 0 ? Shape{} : Shape{int64_t(values.size())});
  return true;
}

bool FoldGather(Op& op, const Ints& list, const Ints& positions) {
  Ints values;
  for (int64_t p : positions) {
    if (p < 0 || p >= int64_t(list.size())) op.Bad("position {} is outside of a list of {}", p, list.size());
    values.push_back(list[size_t(p)]);
  }
  op.OutInts(0, values, op.shape(1));
  return true;
}

bool FoldRange(Op& op, int64_t first, int64_t limit, int64_t step) {
  constexpr int64_t kFar = int64_t{1} << 32;  // below it, nothing here overflows
  const auto far = [](int64_t n) { return n <= -kFar || n >= kFar; };
  if (step == 0 || far(first) || far(limit) || far(step)) return false;
  const int64_t count = std::max<int64_t>(0, (limit - first + step + (step > 0 ? -1 : 1)) / step);
  if (count > int64_t(kMost)) return false;
  Ints values;
  for (int64_t i = 0; i < count; ++i) values.push_back(first + i * step);
  op.OutInts(0, values, {count});
  return true;
}

// Multiplies a whole list, the elements that a shape has.
bool FoldProduct(Op& op, const Ints& list, const Ints& axes) {
  const auto* o = op.Find<tflite::ReducerOptions>();
  if (op.shape().rank() != 1 || axes.empty()) return false;
  for (const int64_t axis : axes) (void)op.Axis(axis, 1);  // which refuses others
  uint64_t product = 1;
  for (const int64_t n : list) product *= uint64_t(n);
  op.OutInts(0, {int64_t(product)}, o && o->keep_dims() ? Shape{1} : Shape{});
  return true;
}

// Returns the shape that a RESHAPE of `count` integers asks for, if it is that of a list or a scalar.
std::optional<Shape> ShapeOfList(const Ints& shape, size_t count) {
  if (shape.empty() && count == 1) return Shape{};
  if (shape.size() != 1 || (shape[0] != -1 && shape[0] != int64_t(count))) return std::nullopt;
  return Shape{int64_t(count)};
}

bool KeepsType(const Op& op) { return op.info(0).type == op.out_info().type; }

bool FoldReshape(Op& op, const Ints& list, const Ints& shape) {
  const auto of = ShapeOfList(shape, list.size());
  if (!of || !KeepsType(op)) return false;
  op.OutInts(0, list, *of);
  return true;
}

// Divides a list into parts of these sizes.
bool FoldSplit(Op& op, const Ints& list, Ints sizes, const Ints& axis) {
  if (op.shape().rank() != 1 || int(sizes.size()) != op.outputs() || axis.size() != 1 || !KeepsType(op))
    return false;
  (void)op.Axis(axis[0], 1);  // which refuses others
  int64_t rest = int64_t(list.size());
  for (const int64_t size : sizes) {
    if (size > int64_t(list.size())) return false;
    rest -= std::max<int64_t>(size, 0);
  }
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open != sizes.end()) rest -= (*open = rest);
  if (rest != 0 || *std::min_element(sizes.begin(), sizes.end()) < 0)
    return false;  // the conversion tells it
  auto next = list.begin();
  for (int i = 0; i < op.outputs(); ++i) {
    const int64_t size = sizes[size_t(i)];
    op.OutInts(i, Ints(next, next + size), {size});
    next += size;
  }
  return true;
}

}  // namespace

bool FoldInts(Op& op) {
  if (op.inputs() == 0 || !IsInt(op.out_info().type)) return false;
  std::vector<Ints> inputs;
  Ints joined;
  for (int i = 0; i < op.inputs(); ++i) {
    if (!op.has(i) || !IsInt(op.info(i).type)) return false;
    const auto ints = op.KnownInts(i);
    if (!ints || op.shape(i).rank() > 1) return false;
    inputs.push_back(*ints);
    joined.insert(joined.end(), ints->begin(), ints->end());
    if (joined.size() > kMost) return false;
  }
  const bool scalars =
      std::all_of(inputs.begin(), inputs.end(), [](const Ints& list) { return list.size() == 1; });
  switch (op.code()) {
    case Code::CAST: return op.OutInts(0, inputs[0], op.shape()), true;
    case Code::CONCATENATION: return op.OutInts(0, joined, {int64_t(joined.size())}), true;
    case Code::PACK:
      return scalars && op.shape().rank() == 0 && (op.OutInts(0, joined, {int64_t(joined.size())}), true);
    case Code::GATHER: return inputs.size() == 2 && FoldGather(op, inputs[0], inputs[1]);
    case Code::RANGE: return inputs.size() == 3 && scalars && FoldRange(op, joined[0], joined[1], joined[2]);
    case Code::RESHAPE: return inputs.size() == 2 && FoldReshape(op, inputs[0], inputs[1]);
    case Code::SPLIT_V: return inputs.size() == 3 && FoldSplit(op, inputs[0], inputs[1], inputs[2]);
    case Code::REDUCE_PROD: return inputs.size() == 2 && FoldProduct(op, inputs[0], inputs[1]);
    default: return inputs.size() == 2 && FoldBinary(op, inputs[0], inputs[1]);
  }
}

}  // namespace mete::tflite_import
