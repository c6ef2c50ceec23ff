#include "kernels/fast/softmax/rows.h"

#include <cmath>
#include <limits>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/softmax/rows.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/math/math-inl.h"

#ifndef METE_ROWS_ONCE
#define METE_ROWS_ONCE
namespace mete {

struct NormCall {
  const float* scale;  // or null
  const float* shift;  // or null
  float epsilon;
  bool centered;  // subtract the mean first
};

}  // namespace mete
#endif  // METE_ROWS_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Returns the sum of f(row[i]), computed in two chains. Lanes beyond the end do not count.
template <class F>
HWY_INLINE float SumOf(const float* row, size_t length, const F& f) {
  const F32 d;
  V32 s0 = hn::Zero(d), s1 = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * kLanes <= length; i += 2 * kLanes) {
    s0 = hn::Add(s0, f(hn::LoadU(d, row + i)));
    s1 = hn::Add(s1, f(hn::LoadU(d, row + i + kLanes)));
  }
  for (; i < length; i += kLanes) {
    const size_t left = length - i;
    const V32 v = f(LoadN(d, row + i, left));
    s0 = hn::Add(s0, left >= kLanes ? v : hn::IfThenElseZero(hn::FirstN(d, left), v));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
}

// Returns the maximum of the row and ignores NaN, which makes the later sum NaN.
HWY_INLINE float MaxOf(const float* row, size_t length) {
  const F32 d;
  V32 best = Num(-std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= length; i += kLanes) best = hn::Max(hn::LoadU(d, row + i), best);
  float most = hn::GetLane(hn::MaxOfLanes(d, best));
  for (; i < length; ++i) most = row[i] > most ? row[i] : most;
  return most;
}

void Softmax(const float* row, size_t length, float* out) {
  const V32 most = Num(MaxOf(row, length));
  MapRow(row, length, out, [=](V32 x) HWY_ATTR { return ExpBelow0(hn::Sub(x, most)); });
  const V32 scale = Num(1.0f / SumOf(out, length, [](V32 x) HWY_ATTR { return x; }));
  MapRow(out, length, out, [=](V32 x) HWY_ATTR { return hn::Mul(x, scale); });
}

void LogSoftmax(const float* row, size_t length, float* out) {
  const float largest = MaxOf(row, length);
  const V32 most = Num(largest);
  const float sum = SumOf(row, length, [=](V32 x) HWY_ATTR { return ExpBelow0(hn::Sub(x, most)); });
  const V32 log_sum = Num(std::log(sum));
  MapRow(row, length, out, [=](V32 x) HWY_ATTR { return hn::Sub(hn::Sub(x, most), log_sum); });
}

// Normalizes one row. A second pass over the centred values computes the variance, which avoids cancellation.
void Normalize(const float* row, size_t length, const NormCall& n, float* out) {
  const F32 d;
  const float count = static_cast<float>(length);
  const float mean = n.centered ? SumOf(row, length, [](V32 x) HWY_ATTR { return x; }) / count : 0.0f;
  const V32 center = Num(mean);
  const float squares =
      SumOf(row, length, [=](V32 x) HWY_ATTR { return hn::Mul(hn::Sub(x, center), hn::Sub(x, center)); });
  const V32 factor = Num(1.0f / std::sqrt(squares / count + n.epsilon));
  for (size_t i = 0; i < length; i += kLanes) {
    const size_t left = length - i;
    V32 v = hn::Mul(hn::Sub(LoadN(d, row + i, left), center), factor);
    if (n.scale) v = hn::Mul(v, LoadN(d, n.scale + i, left));
    if (n.shift) v = hn::Add(v, LoadN(d, n.shift + i, left));
    StoreN(v, d, out + i, left);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(Softmax);
HWY_EXPORT(LogSoftmax);
HWY_EXPORT(Normalize);

namespace {

void NormalizeRows(const float* input, int64_t length, const NormCall& call, Range rows, float* output) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    HWY_DYNAMIC_DISPATCH(Normalize)
    (input + r * length, static_cast<size_t>(length), call, output + r * length);
  }
}

}  // namespace

void SoftmaxRows(const float* input, int64_t length, Range rows, float* output) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    HWY_DYNAMIC_DISPATCH(Softmax)(input + r * length, static_cast<size_t>(length), output + r * length);
  }
}

void LogSoftmaxRows(const float* input, int64_t length, Range rows, float* output) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    HWY_DYNAMIC_DISPATCH(LogSoftmax)(input + r * length, static_cast<size_t>(length), output + r * length);
  }
}

void LayerNormRows(const float* input, int64_t length, const float* scale, const float* shift, float epsilon,
                   Range rows, float* output) {
  NormalizeRows(input, length, {scale, shift, epsilon, true}, rows, output);
}

void RmsNormRows(const float* input, int64_t length, const float* scale, float epsilon, Range rows,
                 float* output) {
  NormalizeRows(input, length, {scale, nullptr, epsilon, false}, rows, output);
}

}  // namespace mete
#endif  // HWY_ONCE
