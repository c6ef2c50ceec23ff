#include "kernels/fast/matvec/matvec.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/matvec/matvec.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/matvec/outputs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Computes R dot products side by side with two sums each, so that the order of additions in a product does
// not depend on R. The processor's own prefetcher stops at the end of a page and starts again with each row.
// Therefore this function prefetches weights `kAhead` elements ahead. kLocality is that of
// __builtin_prefetch: 3 means all levels of cache, 2 means the second level and beyond.
template <int R, size_t kAhead, int kLocality>
HWY_INLINE void Dots(const float* w, int64_t stride, size_t k, const float* x, float* y) {
  const F32 d;
  V32 even[R], odd[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) even[r] = odd[r] = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * kLanes <= k; i += 2 * kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      for (size_t line = 0; line < 2 * kLanes; line += 16)
        __builtin_prefetch(w + r * stride + i + kAhead + line, 0, kLocality);
    }
    const V32 x0 = hn::LoadU(d, x + i), x1 = hn::LoadU(d, x + i + kLanes);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      even[r] = hn::MulAdd(x0, hn::LoadU(d, w + r * stride + i), even[r]);
      odd[r] = hn::MulAdd(x1, hn::LoadU(d, w + r * stride + i + kLanes), odd[r]);
    }
  }
  for (; i < k; i += kLanes) {
    const V32 x0 = LoadN(d, x + i, k - i);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) even[r] = hn::MulAdd(x0, LoadN(d, w + r * stride + i, k - i), even[r]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) y[r] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[r], odd[r])));
}

// Rows with a number of elements between these limits are read one after the other, as one stream through
// memory, with prefetches 16 KiB ahead, which reach into the next rows. All other rows are read four at a
// time, with prefetches 2 KiB ahead: shorter rows end before their sums are added up, and each longer row is
// a stream of its own. Measurements with AVX-512 compare one row at a time with four. In whole models, rows
// of 4, 5, 8 and 16 KiB take 0.64, 0.59, 0.76 and 0.81 of the time, and rows of 36 KiB take 1.2. In a
// benchmark of its own, from memory, rows of 256 bytes take 0.84 and rows of 0.5 to 2 KiB take 0.45 to 0.6;
// from the third-level cache they take 0.9 to 1.1. Three points are guesses: the limit between 16 and 36 KiB,
// the choice for short rows in nearer caches, and that two sums are enough for narrower vectors, whose memory
// is mostly slower.
constexpr int64_t kLeastAlone = 64, kMostAlone = 4096;

void ByRows(const float* w, int64_t stride, int64_t k, const float* x, const Epilogue& epilogue,
            Range outputs, float* y) {
  const size_t length = static_cast<size_t>(k);
  const bool alone = k >= kLeastAlone && k <= kMostAlone;
  int64_t i = outputs.begin;
  for (; alone && i < outputs.end; ++i) Dots<1, 4096, 2>(w + i * stride, stride, length, x, y + i);
  for (; i + 4 <= outputs.end; i += 4) Dots<4, 512, 3>(w + i * stride, stride, length, x, y + i);
  for (; i < outputs.end; ++i) Dots<1, 512, 3>(w + i * stride, stride, length, x, y + i);
  FinishOutputs(epilogue, outputs, y);
}

// Rows are streams through memory that begin anew with every eight rows, where the processor's own prefetcher
// has to find them again. Therefore weights are prefetched from memory this number of elements ahead, and at
// the end of eight rows the begin of the next eight. Measurements with AVX-512 on whole models: a Llama of
// 158 MB of weights takes 0.77 of the time without, 256 and 1024 elements are as good, and prefetches into
// the first level of cache take 1.16 of it. Weights in the third-level cache take 1.06 to 1.13 with
// prefetches. That vectors of fewer than eight lanes do without is a guess.
constexpr size_t kAheadInRow = 512;

// Adds R rows of w, each times its element of x, to y[0, count).
template <int R, WeightsPlace kPlace>
HWY_INLINE void AddRows(const float* w, int64_t stride, const float* x, size_t count, float* y) {
  const F32 d;
  V32 scale[R];
  const size_t ahead = HWY_MIN(count, kAheadInRow);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) scale[r] = hn::Set(d, x[r]);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    V32 sum = hn::LoadU(d, y + i);
    const float* next = i + ahead < count ? w + i + ahead : w + R * stride + (i + ahead - count);
    const bool prefetch = kPlace == WeightsPlace::kMemory && i % 16 == 0;  // whole lines
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      if (prefetch) __builtin_prefetch(next + r * stride, 0, 2);
      sum = hn::MulAdd(scale[r], hn::LoadU(d, w + r * stride + i), sum);
    }
    hn::StoreU(sum, d, y + i);
  }
  if (i == count) return;
  V32 sum = LoadN(d, y + i, count - i);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sum = hn::MulAdd(scale[r], LoadN(d, w + r * stride + i, count - i), sum);
  StoreN(sum, d, y + i, count - i);
}

template <WeightsPlace kPlace>
HWY_INLINE void AddAllRows(const float* w, int64_t stride, int64_t k, const float* x, size_t count,
                           float* y) {
  int64_t row = 0;
  for (; row + 8 <= k; row += 8) AddRows<8, kPlace>(w + row * stride, stride, x + row, count, y);
  for (; row < k; ++row) AddRows<1, WeightsPlace::kCache>(w + row * stride, stride, x + row, count, y);
}

void ByColumns(const float* w, int64_t stride, int64_t k, const float* x, const Epilogue& epilogue,
               Range outputs, float* y, WeightsPlace place) {
  constexpr int64_t kStrip = 4096;  // sums that stay in the first-level cache
  for (int64_t begin = outputs.begin; begin < outputs.end; begin += kStrip) {
    const size_t count = static_cast<size_t>(std::min(kStrip, outputs.end - begin));
    for (size_t i = 0; i < count; ++i) y[begin + static_cast<int64_t>(i)] = 0;
    if (kLanes >= 8 && place == WeightsPlace::kMemory)
      AddAllRows<WeightsPlace::kMemory>(w + begin, stride, k, x, count, y + begin);
    else AddAllRows<WeightsPlace::kCache>(w + begin, stride, k, x, count, y + begin);
  }
  FinishOutputs(epilogue, outputs, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(ByRows);
HWY_EXPORT(ByColumns);

void MatVecByRows(const float* w, int64_t stride, int64_t k, const float* x, const Epilogue& epilogue,
                  Range outputs, float* y) {
  HWY_DYNAMIC_DISPATCH(ByRows)(w, stride, k, x, epilogue, outputs, y);
}

void MatVecByColumns(const float* w, int64_t stride, int64_t k, const float* x, const Epilogue& epilogue,
                     Range outputs, float* y, WeightsPlace place) {
  HWY_DYNAMIC_DISPATCH(ByColumns)(w, stride, k, x, epilogue, outputs, y, place);
}

}  // namespace mete
#endif  // HWY_ONCE
