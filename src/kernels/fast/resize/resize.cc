#include "kernels/fast/resize/resize.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/resize/resize.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// The weights of the pixels around a place: `upper` and `lower` of the two rows, `left` and `right` of the
// two columns.
struct Weights {
  V32 upper, lower, left, right;
};

// First the rows, then the columns, as the reference does.
HWY_INLINE V32 Between(const Weights& w, V32 upper_left, V32 lower_left, V32 upper_right, V32 lower_right) {
  const V32 left = hn::MulAdd(w.lower, lower_left, hn::Mul(w.upper, upper_left));
  const V32 right = hn::MulAdd(w.lower, lower_right, hn::Mul(w.upper, upper_right));
  return hn::MulAdd(w.right, right, hn::Mul(w.left, left));
}

// Computes a row of the output from two rows of the input.
void ResizeLinearRow(const ResizeShape& shape, const float* upper, const float* lower,
                     const ResizeSource& row, float* to) {
  const F32 d;
  const size_t n = static_cast<size_t>(shape.pixel);
  Weights w = {hn::Set(d, row.first_weight), hn::Set(d, row.second_weight), hn::Zero(d), hn::Zero(d)};
  for (const ResizeSource& column : shape.columns) {
    w.left = hn::Set(d, column.first_weight);
    w.right = hn::Set(d, column.second_weight);
    const int64_t left = column.first * shape.pixel, right = column.second * shape.pixel;
    const float *ul = upper + left, *ll = lower + left, *ur = upper + right, *lr = lower + right;
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      hn::StoreU(
          Between(w, hn::LoadU(d, ul + i), hn::LoadU(d, ll + i), hn::LoadU(d, ur + i), hn::LoadU(d, lr + i)),
          d, to + i);
    if (i < n)
      StoreN(Between(w, LoadN(d, ul + i, n - i), LoadN(d, ll + i, n - i), LoadN(d, ur + i, n - i),
                     LoadN(d, lr + i, n - i)),
             d, to + i, n - i);
    to += n;
  }
}

void ResizeNearestRow(const ResizeShape& shape, const float* from, float* to) {
  for (const ResizeSource& column : shape.columns) {
    MapRow(from + column.first * shape.pixel, static_cast<size_t>(shape.pixel), to,
           [](V32 v) HWY_ATTR { return v; });
    to += shape.pixel;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(ResizeLinearRow);
HWY_EXPORT(ResizeNearestRow);

void RunResize(const ResizeShape& shape, const float* input, Range rows, float* output) {
  const int64_t height = static_cast<int64_t>(shape.rows.size()), in_row = shape.in_width * shape.pixel;
  const int64_t out_row = static_cast<int64_t>(shape.columns.size()) * shape.pixel;
  int64_t copied = -1;  // the input row that the output row before this one is made of
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const ResizeSource& row = shape.rows[static_cast<size_t>(r % height)];
    const int64_t first = r / height * shape.in_height;
    float* to = output + r * out_row;
    if (!shape.nearest) {
      HWY_DYNAMIC_DISPATCH(ResizeLinearRow)
      (shape, input + (first + row.first) * in_row, input + (first + row.second) * in_row, row, to);
    } else if (copied == first + row.first) {
      std::copy_n(to - out_row, out_row, to);
    } else {
      copied = first + row.first;
      HWY_DYNAMIC_DISPATCH(ResizeNearestRow)(shape, input + copied * in_row, to);
    }
  }
}

}  // namespace mete
#endif  // HWY_ONCE
