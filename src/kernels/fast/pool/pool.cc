#include "kernels/fast/pool/pool.h"

#include <limits>

#include "kernels/fast/pool/taps.h"
#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/pool/pool.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/vector-inl.h"

#ifndef METE_POOL_ONCE
#define METE_POOL_ONCE
namespace mete {

// The window of one output pixel: rows x columns taps from `input` on.
struct PoolWindow {
  const float* input;
  int64_t rows, columns;
  int64_t row_step, column_step;  // elements between taps
  int64_t channels;
  float scale;  // 1 / divisor of the average
};

}  // namespace mete
#endif  // METE_POOL_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Returns the maximum; a NaN on either side stays. The test whether `v` is NaN does not wait for the previous
// tap's maximum, so with masks the chain has one instruction per tap.
HWY_INLINE V32 MaxOf(V32 best, V32 v) { return hn::IfThenElse(hn::Eq(v, v), AtLeast(v, best), v); }

// Pools V vectors of channels side by side, which are V chains. If kPart is set, the last vector has only
// `last` channels.
template <bool kMax, int V, bool kPart>
HWY_INLINE void PoolVectors(const PoolWindow& w, int64_t c, size_t last, float* out) {
  const F32 d;
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  V32 acc[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) acc[v] = hn::Set(d, kMax ? -std::numeric_limits<float>::infinity() : 0.0f);
  for (int64_t y = 0; y < w.rows; ++y) {
    const float* in = w.input + y * w.row_step + c;
    for (int64_t x = 0; x < w.columns; ++x, in += w.column_step) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        const V32 value = kPart && v == V - 1 ? LoadN(d, in + v * kStep, last) : hn::LoadU(d, in + v * kStep);
        acc[v] = kMax ? MaxOf(acc[v], value) : hn::Add(acc[v], value);
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    const V32 result = kMax ? acc[v] : hn::Mul(acc[v], hn::Set(d, w.scale));
    if (kPart && v == V - 1) {
      StoreN(result, d, out + c + v * kStep, last);
    } else {
      hn::StoreU(result, d, out + c + v * kStep);
    }
  }
}

// Pools the last 1 to V vectors of a pixel, from channel `c` on.
template <bool kMax, int V>
HWY_INLINE void PoolRest(const PoolWindow& w, int64_t c, float* out) {
  const int64_t last = w.channels - c - (V - 1) * static_cast<int64_t>(kLanes);
  if constexpr (V > 1) {
    if (last <= 0) return PoolRest<kMax, V - 1>(w, c, out);
  }
  PoolVectors<kMax, V, true>(w, c, static_cast<size_t>(last), out);
}

template <bool kMax>
inline void PoolPixel(const PoolWindow& w, float* out) {
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  int64_t c = 0;
  for (; c + 4 * kStep <= w.channels; c += 4 * kStep) PoolVectors<kMax, 4, false>(w, c, 0, out);
  if (c < w.channels) PoolRest<kMax, 4>(w, c, out);
}

void PoolWindowMax(const PoolWindow& w, float* out) { PoolPixel<true>(w, out); }
void PoolWindowAverage(const PoolWindow& w, float* out) { PoolPixel<false>(w, out); }

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(PoolWindowMax);
HWY_EXPORT(PoolWindowAverage);

namespace {

void RunWindow(PoolKind kind, const PoolWindow& window, float* out) {
  if (kind == PoolKind::kMax) return HWY_DYNAMIC_DISPATCH(PoolWindowMax)(window, out);
  HWY_DYNAMIC_DISPATCH(PoolWindowAverage)(window, out);
}

}  // namespace

void RunPool(const PoolShape& shape, const float* input, Range pixels, float* output) {
  const ConvShape& s = shape.window;
  const int64_t stride = s.out_pixel_stride ? s.out_pixel_stride : s.in_channels;
  ForPoolTaps(shape, pixels, [&](int64_t pixel, const PoolTaps& taps) {
    const PoolWindow window = {input + taps.first,
                               taps.rows,
                               taps.columns,
                               taps.row_step,
                               taps.column_step,
                               s.in_channels,
                               1.0f / static_cast<float>(taps.divisor)};
    RunWindow(shape.kind, window, output + pixel * stride);
  });
}

void GlobalPool(PoolKind kind, const float* input, int64_t pixels, int64_t pixel_stride, int64_t divisor,
                Range channels, float* out) {
  const PoolWindow window = {input + channels.begin,
                             1,
                             pixels,
                             0,
                             pixel_stride,
                             channels.size(),
                             1.0f / static_cast<float>(divisor)};
  RunWindow(kind, window, out + channels.begin);
}

}  // namespace mete
#endif  // HWY_ONCE
