// Operators that make new elements: from a shape, a range, or the indices of another tensor's nonzeros.
#include <algorithm>
#include <cmath>

#include "graph/ops/tensor_rules.h"

namespace mete {
namespace {

DType TypeAttribute(const InferContext& c, const char* name, DType fallback) {
  const auto text = c.attributes.String(name, "");
  if (text.empty()) return fallback;
  const DType type = DTypeOf(text);
  if (type == DType::kUnknown) c.Bad("{} is not an element type; got {}", name, text);
  return type;
}

int64_t RangeOfInts(const InferContext& c) {
  __int128 v[3];
  for (int i = 0; i < 3; ++i) v[i] = (*c.ints(i))[0];
  if (v[2] == 0) c.Bad("delta is impossible; got 0, expected another number");
  const __int128 span = v[2] > 0 ? v[1] - v[0] : v[0] - v[1], step = v[2] > 0 ? v[2] : -v[2];
  const __int128 n = span <= 0 ? 0 : (span + step - 1) / step;
  if (n > INT64_MAX)
    c.Bad("range has too many elements; got {} to {} by {}", (*c.ints(0))[0], (*c.ints(1))[0],
          (*c.ints(2))[0]);
  return int64_t(n);
}

int64_t RangeOfFloats(const InferContext& c) {
  const double start = *ScalarOf(c, 0), limit = *ScalarOf(c, 1), delta = *ScalarOf(c, 2);
  const double n = std::ceil((limit - start) / delta);
  if (delta == 0 || std::isnan(n) || n >= 0x1p62)
    c.Bad("range has no end; got {} to {} by {}", start, limit, delta);
  return n > 0 ? int64_t(n) : 0;
}

}  // namespace

void InferShape(InferContext& c) {
  const int64_t rank = c.shape(0).rank();
  const auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clamp(c.attributes.Int("start", 0)), end = clamp(c.attributes.Int("end", rank));
  c.Output(0, DType::kI64, {end > start ? end - start : 0});
}

void InferSize(InferContext& c) { c.Output(0, DType::kI64, {}); }

void InferRange(InferContext& c) {
  for (int i = 0; i < 3; ++i) {
    NeedScalar(c, i);
    NeedSameType(c, 0, i);
    NeedType(c, i, kNumericTypes);
  }
  if (!c.has_data(0) || !c.has_data(1) || !c.has_data(2)) return c.OutputUnknown(0, c.type(0));
  c.Output(0, c.type(0), {IsFloat(c.type(0)) ? RangeOfFloats(c) : RangeOfInts(c)});
}

void InferConstantOfShape(InferContext& c) {
  const Tensor* value = c.attributes.TensorOf("value");
  if (value && value->elements() != 1)
    c.Bad("value must have one element; got shape {}", ToString(value->shape()));
  const DType type = value ? value->type() : DType::kF32;
  const auto dims = ShortList(c, 0);
  if (!dims) return c.OutputUnknown(0, type);
  c.Output(0, type, ShapeFrom(c, *dims));
}

void InferConstant(InferContext& c) {
  const Tensor* value = c.attributes.TensorOf("value");
  if (!value) c.Bad("attribute value is missing; expected a tensor");
  c.Output(0, value->type(), value->shape());
}

void InferEyeLike(InferContext& c) {
  c.NeedRank(0, 2, 2);
  c.Output(0, TypeAttribute(c, "dtype", c.type(0)), c.shape(0));
}

void InferOneHot(InferContext& c) {
  const Shape& in = c.shape(0);
  NeedType(c, 0, kNumericTypes);
  if (c.shape(2) != Shape{2}) c.Bad("values must be [off, on]; got shape {}", ToString(c.shape(2)));
  const int axis = c.Axis(c.attributes.Int("axis", -1), in.rank() + 1);
  const auto depth = ScalarOf(c, 1);
  if (!depth) return c.OutputUnknown(0, c.type(2));
  if (!(*depth >= 0 && *depth < 0x1p62)) c.Bad("depth is impossible; got {}", *depth);
  Shape out;
  for (int i = 0; i <= in.rank(); ++i) Append(c, out, i == axis ? int64_t(*depth) : in[i < axis ? i : i - 1]);
  c.Output(0, c.type(2), out);
}

void InferNonZero(InferContext& c) { c.OutputUnknown(0, DType::kI64); }

}  // namespace mete
