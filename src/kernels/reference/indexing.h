// Reads index inputs of kernels, and copies tensors with a source index for each axis.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "base/visit_type.h"
#include "kernels/reference/iterate.h"
#include "kernels/reference/reference.h"

namespace mete {

// Reads an i32 or i64 input (inference has checked that it is one).
class IndexReader {
 public:
  explicit IndexReader(const ConstView& v)
      : wide_(v.type == DType::kI64 ? v.as<int64_t>() : nullptr), narrow_(v.as<int32_t>()) {}
  int64_t operator[](int64_t i) const { return wide_ ? wide_[i] : narrow_[i]; }

 private:
  const int64_t* wide_;
  const int32_t* narrow_;
};

// Maps an index in [-dim, dim) to [0, dim). Throws OUT_OF_RANGE for other indices.
inline int64_t CheckIndex(const char* op, int64_t index, int64_t dim) {
  if (index < -dim || index >= dim)
    Fail(Code::kOutOfRange, op, "index is out of range; got {}, expected {} to {}", index, -dim, dim - 1);
  return index < 0 ? index + dim : index;
}

// Copies bytes like memcpy, but also allows null pointers for 0 bytes, and a copy of memory to itself.
inline void CopyBytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

// Copies as CopyWalk() does where elements lie side by side on both sides, for example in an Expand of whole
// rows, and returns true; returns false where none do. It is no part of its callers, which would be larger.
[[gnu::noinline]] inline bool CopyRuns(DType type, const Shape& shape, const void* from,
                                       const Steps& from_steps, void* to, const Steps& to_steps) {
  int outer = shape.rank();
  int64_t run = 1;
  while (outer > 0 && (shape[outer - 1] == 1 ||
                       (from_steps[size_t(outer - 1)] == run && to_steps[size_t(outer - 1)] == run)))
    run *= shape[--outer];
  if (run <= 1) return false;
  const size_t bytes = SizeOf(type);
  ForEach<2>(Shape(std::span(shape.begin(), size_t(outer))), {from_steps, to_steps},
             [&](const std::array<int64_t, 2>& at) {
               CopyBytes(static_cast<std::byte*>(to) + size_t(at[1]) * bytes,
                         static_cast<const std::byte*>(from) + size_t(at[0]) * bytes, size_t(run) * bytes);
             });
  return true;
}

// Assigns to[index . to_steps] = from[index . from_steps] for every index in `shape`; the dot is the inner
// product.
inline void CopyWalk(DType type, const Shape& shape, const void* from, const Steps& from_steps, void* to,
                     const Steps& to_steps) {
  if (CopyRuns(type, shape, from, from_steps, to, to_steps)) return;
  VisitSize(type, [&]<class T>() {
    const int last = shape.rank() - 1;
    const int64_t n = last < 0 ? 1 : shape[last];
    const int64_t in_step = last < 0 ? 0 : from_steps[size_t(last)],
                  out_step = last < 0 ? 0 : to_steps[size_t(last)];
    ForEachRow<2>(shape, {from_steps, to_steps}, [&](const std::array<int64_t, 2>& at) {
      const T* in = static_cast<const T*>(from) + at[0];
      T* out = static_cast<T*>(to) + at[1];
      for (int64_t j = 0; j < n; ++j) out[j * out_step] = in[j * in_step];
    });
  });
}

// A copy in which each axis has a source function of its own: out[i, j, ...] = in[f0(i), f1(j), ...], or a
// fill value where one of the functions returns kNone. Slicing, padding, tiling and nearest resizing are such
// copies.
class AxisMap {
 public:
  static constexpr int64_t kNone = -1;

  // Sets f(i) = i for every axis. Both shapes have the same rank.
  AxisMap(const Shape& in, const Shape& out, Scratch& scratch)
      : out_(out), steps_(RowMajorSteps(in)), empty_(out.Elements() == 0) {
    if (empty_) return;
    for (int d = 0; d < out.rank(); ++d) {
      tables_[size_t(d)] = scratch.Get<int64_t>(size_t(out[d]));
      FillTable(d, [](int64_t i) { return i; });
    }
  }

  template <class F>
  void Set(int axis, F&& source) {
    if (empty_) return;
    whole_ = std::max(whole_, axis + 1);
    FillTable(axis, source);
  }

  // Copies `in` to `out`. `fill` points to one element; null means a fill value of zero.
  void Copy(const ConstView& in, const View& out, const void* fill = nullptr) const {
    if (empty_) return;
    VisitSize(in.type, [&]<class T>() {
      T* to = out.as<T>();
      CopyAxis<T>(0, in.as<T>(), to, fill ? *static_cast<const T*>(fill) : T(0));
    });
  }

 private:
  template <class F>
  void FillTable(int axis, F&& source) {
    int64_t* table = tables_[size_t(axis)];
    for (int64_t i = 0; i < out_[axis]; ++i) {
      const int64_t from = source(i);
      table[i] = from < 0 ? kNone : from * steps_[size_t(axis)];
    }
  }

  template <class T>
  void CopyAxis(int axis, const T* from, T*& to, T fill) const {
    if (axis == whole_) {
      to = std::copy_n(from, out_.Elements(axis, out_.rank()), to);
      return;
    }
    const int64_t* table = tables_[size_t(axis)];
    const int64_t n = out_[axis];
    if (axis == out_.rank() - 1) {
      for (int64_t i = 0; i < n; ++i) *to++ = table[i] < 0 ? fill : from[table[i]];
      return;
    }
    const int64_t below = out_.Elements(axis + 1, out_.rank());
    for (int64_t i = 0; i < n; ++i) {
      if (table[i] < 0) to = std::fill_n(to, below, fill);
      else CopyAxis(axis + 1, from + table[i], to, fill);
    }
  }

  Shape out_;
  Steps steps_;
  bool empty_;
  int whole_ = 0;  // from this axis on, indices stay the same, and elements lie side by side
  std::array<int64_t*, Shape::kMaxRank> tables_{};
};

}  // namespace mete
