// Functions that the inference of data-moving operators shares: reading of shape inputs, checked arithmetic
// on dimensions, and the declarations of inference functions that are not in the file of their table. Only
// graph/ops uses this header.
#pragma once

#include <cmath>
#include <optional>

#include "base/visit_type.h"
#include "graph/ops/check.h"

namespace mete {

inline void NeedSameType(const InferContext& c, int i, int j) {
  if (c.type(i) != c.type(j))
    c.Bad("inputs {} and {} must have one element type; got {} and {}", i, j, Name(c.type(i)),
          Name(c.type(j)));
}

// Throws an Error unless input i has one element, as a scalar or as a list of one.
inline void NeedScalar(const InferContext& c, int i) {
  if (c.shape(i).Elements() != 1)
    c.Bad("input {} must have one element; got shape {}", i, ToString(c.shape(i)));
}

inline int64_t CheckedMul(const InferContext& c, int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) c.Bad("a dimension overflows; got {} times {}", a, b);
  return out;
}

inline int64_t CheckedAdd(const InferContext& c, int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) c.Bad("a dimension overflows; got {} plus {}", a, b);
  return out;
}

inline void Append(const InferContext& c, Shape& shape, int64_t dim) {
  if (shape.rank() >= Shape::kMaxRank)
    c.Bad("too many dimensions; got more than {0}, expected at most {0}", Shape::kMaxRank);
  if (dim < 0) c.Bad("output has a negative dimension; got {}", dim);
  shape.push_back(dim);
}

inline Shape ShapeFrom(const InferContext& c, const Ints& dims) {
  Shape shape;
  for (int64_t d : dims) Append(c, shape, d);
  return shape;
}

// Returns the elements of a list input (shapes, axes, pads), or nothing if its data is not known yet. Throws
// an Error if the list has more than 2 * kMaxRank elements.
inline std::optional<Ints> ShortList(const InferContext& c, int i) {
  NeedType(c, i, kIndexTypes);
  if (c.shape(i).rank() > 1 || c.shape(i).Elements() > 2 * Shape::kMaxRank)
    c.Bad("input {} must be a list of at most {} numbers; got shape {}", i, 2 * Shape::kMaxRank,
          ToString(c.shape(i)));
  return c.ints(i);
}

// Returns the axes as numbers in [0, rank). Throws an Error if an axis is given twice.
inline Ints CheckAxes(const InferContext& c, Ints axes, int rank) {
  unsigned seen = 0;
  for (int64_t& axis : axes) {
    axis = c.Axis(axis, rank);
    if (seen & 1u << axis) c.Bad("an axis is given twice; got {} again, expected each once", axis);
    seen |= 1u << axis;
  }
  return axes;
}

inline Ints AllAxes(int rank) {
  Ints axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

// Returns the element of a one-element input of any type as a double, or nothing if its data is not known
// yet.
inline std::optional<double> ScalarOf(const InferContext& c, int i) {
  NeedScalar(c, i);
  if (!c.has_data(i)) return std::nullopt;
  const ConstView& v = c.data(i);
  if (v.type == DType::kBool) return double(v.as<uint8_t>()[0] != 0);
  return VisitNumeric(v.type, [&]<class T>() { return double(v.as<T>()[0]); });
}

// Inference functions that are defined in another file than their table.
void InferSlice(InferContext& c);
void InferTile(InferContext& c);
void InferPad(InferContext& c);
void InferCenterCropPad(InferContext& c);
void InferDepthToSpace(InferContext& c);
void InferSpaceToDepth(InferContext& c);
void InferReverseSequence(InferContext& c);
void InferShape(InferContext& c);
void InferSize(InferContext& c);
void InferRange(InferContext& c);
void InferConstantOfShape(InferContext& c);
void InferConstant(InferContext& c);
void InferEyeLike(InferContext& c);
void InferOneHot(InferContext& c);
void InferNonZero(InferContext& c);
void InferRandom(InferContext& c);
void InferRandomLike(InferContext& c);
void InferBernoulli(InferContext& c);
void InferMultinomial(InferContext& c);
void InferResize(InferContext& c);
void InferTfIdfVectorizer(InferContext& c);
void InferTreeEnsemble(InferContext& c);

}  // namespace mete
