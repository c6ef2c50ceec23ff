// Iteration over dense tensors whose dimensions do not correspond one to one: broadcasting, permuting,
// slicing, and one axis at a time. Offsets and steps are in elements. No function of this file allocates.
#pragma once

#include <array>
#include <cstdint>

#include "mete/tensor.h"

namespace mete {

// The distance in memory of one step along each dimension. Entries beyond the rank are unused.
using Steps = std::array<int64_t, Shape::kMaxRank>;

inline Steps RowMajorSteps(const Shape& shape) {
  Steps steps{};
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    steps[size_t(i)] = step;
    step *= shape[i];
  }
  return steps;
}

// Returns the steps of a tensor of shape `from` for an iteration over `to`, to which it broadcasts (by
// numpy's rule, aligned at the last dimension). The step is 0 along dimensions in which the tensor is
// repeated. Example: 3x1 broadcast to 2x3x4 has the steps 0, 1, 0.
inline Steps BroadcastSteps(const Shape& from, const Shape& to) {
  const Steps own = RowMajorSteps(from);
  Steps steps{};
  const int missing = to.rank() - from.rank();
  for (int i = 0; i < from.rank(); ++i) steps[size_t(i + missing)] = from[i] == 1 ? 0 : own[size_t(i)];
  return steps;
}

// Returns the steps of a transposed view: dimension i of the iteration is dimension order[i] of `shape`.
template <class Order>
Steps PermutedSteps(const Shape& shape, const Order& order) {
  const Steps own = RowMajorSteps(shape);
  Steps steps{};
  for (int i = 0; i < shape.rank(); ++i) steps[size_t(i)] = own[size_t(order[size_t(i)])];
  return steps;
}

// Calls f(offsets) for the start of every run along the last dimension of `shape`, in row-major order.
// offsets[k] follows steps[k]; within the run, element j is at offsets[k] + j * steps[k][rank-1], for j <
// shape.back() (j < 1 for a scalar). A shape without elements gives no call.
template <size_t N, class F>
void ForEachRow(const Shape& shape, const std::array<Steps, N>& steps, F&& f) {
  if (shape.Elements() == 0) return;
  std::array<int64_t, N> at{};
  std::array<int64_t, Shape::kMaxRank> index{};
  for (;;) {
    f(at);
    int d = shape.rank() - 2;
    for (; d >= 0; --d) {
      for (size_t k = 0; k < N; ++k) at[k] += steps[k][size_t(d)];
      if (++index[size_t(d)] < shape[d]) break;
      for (size_t k = 0; k < N; ++k) at[k] -= steps[k][size_t(d)] * shape[d];
      index[size_t(d)] = 0;
    }
    if (d < 0) return;
  }
}

// Calls f(offsets) for every element of `shape` in row-major order.
template <size_t N, class F>
void ForEach(const Shape& shape, const std::array<Steps, N>& steps, F&& f) {
  const int last = shape.rank() - 1;
  const int64_t n = last < 0 ? 1 : shape[last];
  ForEachRow(shape, steps, [&](std::array<int64_t, N> at) {
    for (int64_t j = 0; j < n; ++j) {
      f(at);
      for (size_t k = 0; k < N; ++k) at[k] += last < 0 ? 0 : steps[k][size_t(last)];
    }
  });
}

// A shape as three dimensions around one axis (or around `axes` neighbouring ones): outer x length x inner,
// row-major. Example: 2x3x4x5 split at axis 1 is 2 x 3 x 20.
struct AxisSplit {
  int64_t outer, length, inner;

  AxisSplit(const Shape& shape, int axis, int axes = 1)
      : outer(shape.Elements(0, axis)),
        length(shape.Elements(axis, axis + axes)),
        inner(shape.Elements(axis + axes, shape.rank())) {}

  // Calls f(offset) with the start of every line along the axis. Element j of a line is at
  // offset + j * inner. Lines may be empty (length 0).
  template <class F>
  void ForEachLine(F&& f) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) f(o * length * inner + i);
  }
};

// A tensor's dimensions in two groups: `reduced` holds the dimensions whose `mask` is set, over which an
// operator reduces, and `kept` holds all others. The steps are those of the whole tensor.
using AxisMask = std::array<bool, Shape::kMaxRank>;

struct PartedShape {
  Shape kept, reduced;
  Steps kept_steps{}, reduced_steps{};

  PartedShape(const Shape& shape, const AxisMask& mask) {
    const Steps steps = RowMajorSteps(shape);
    for (int i = 0; i < shape.rank(); ++i) {
      const bool set = mask[size_t(i)];
      (set ? reduced_steps[size_t(reduced.rank())] : kept_steps[size_t(kept.rank())]) = steps[size_t(i)];
      (set ? reduced : kept).push_back(shape[i]);
    }
  }
};

// Maps an axis in [-rank, rank), which inference has checked, to [0, rank).
inline int WrapAxis(int64_t axis, int rank) { return int(axis < 0 ? axis + rank : axis); }

}  // namespace mete
