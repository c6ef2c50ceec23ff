#include "kernels/fast/bytes/byte_pool.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/fast/bytes/byte_columns.h"
#include "kernels/fast/pool/taps.h"
#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/bytes/byte_pool.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/bytes/levels-inl.h"

#ifndef METE_BYTE_POOL_ONCE
#define METE_BYTE_POOL_ONCE
namespace mete {

// The pixels that the window of one output pixel reads.
struct ByteWindow {
  const uint8_t* input;
  PoolTaps taps;
};

struct MaxRunOf {
  int64_t pixels, channels, out_stride;
  uint8_t top;  // 0x80 if bytes are signed, else 0
};

inline float LeastOf(const ByteScale& y) { return y.is_signed ? -128.f : 0.f; }

}  // namespace mete
#endif  // METE_BYTE_POOL_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Calls f(first channel) for vectors of `lanes` channels. The last vector ends with the last channel and may
// compute some channels again; with fewer channels than lanes there is no call, and false is returned.
template <class F>
HWY_INLINE bool ForVectors(int64_t channels, int64_t lanes, const F& f) {
  if (channels < lanes) return false;
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) f(c);
  if (c < channels) f(channels - lanes);
  return true;
}

// Returns the maxima from channel `c` on. Flipped, signed bytes are unsigned ones in the same order.
template <class D>
HWY_INLINE hn::Vec<D> MaxOfTaps(D d, const ByteWindow& w, int64_t c, hn::Vec<D> flip) {
  auto best = hn::Zero(d);
  for (int64_t y = 0; y < w.taps.rows; ++y) {
    const uint8_t* in = w.input + w.taps.first + y * w.taps.row_step + c;
    const auto tap = [&](int64_t x)
                         HWY_ATTR { return hn::Xor(hn::LoadU(d, in + x * w.taps.column_step), flip); };
    if (w.taps.columns == 3) {
      best = hn::Max(hn::Max(best, tap(0)), hn::Max(tap(1), tap(2)));
    } else {
      for (int64_t x = 0; x < w.taps.columns; ++x) best = hn::Max(best, tap(x));
    }
  }
  return hn::Xor(best, flip);
}

// Computes a pixel in vectors as wide as D; returns false if there are fewer channels than lanes.
template <class D>
HWY_INLINE bool MaxPixelBy(D d, const ByteWindow& w, int64_t channels, uint8_t top, uint8_t* out) {
  const auto flip = hn::Set(d, top);
  return ForVectors(channels, static_cast<int64_t>(hn::Lanes(d)),
                    [&](int64_t c) HWY_ATTR { hn::StoreU(MaxOfTaps(d, w, c, flip), d, out + c); });
}

HWY_INLINE void MaxPixel(const ByteWindow& w, int64_t channels, uint8_t top, uint8_t* out) {
  MaxPixelBy(hn::ScalableTag<uint8_t>(), w, channels, top, out) ||
      MaxPixelBy(hn::CappedTag<uint8_t, 32>(), w, channels, top, out) ||
      MaxPixelBy(hn::CappedTag<uint8_t, 16>(), w, channels, top, out) ||
      MaxPixelBy(hn::CappedTag<uint8_t, 8>(), w, channels, top, out) ||
      MaxPixelBy(hn::CappedTag<uint8_t, 1>(), w, channels, top, out);
}

// Computes a run of pixels of a row, of which `w` is the first one's window. The maxima of columns come
// first: windows that overlap share them, and they are vectors of all bytes of a row, however few channels it
// has.
void MaxRun(const ByteWindow& w, const MaxRunOf& run, uint8_t* out) {
  constexpr int64_t kBytes = 8 * 1024;  // of maxima, a quarter of the first cache or less
  HWY_ALIGN uint8_t maxima[kBytes];
  const int64_t window = w.taps.columns * run.channels, step = w.taps.step;
  const bool gaps = w.taps.column_step != run.channels;
  const int64_t most = gaps || window > kBytes ? 0 : (kBytes - window) / std::max<int64_t>(step, 1) + 1;
  ByteWindow at = w;
  for (int64_t p = 0, count; p < run.pixels; p += count) {
    count = std::clamp<int64_t>(most, 1, run.pixels - p);
    at.taps.first = w.taps.first + p * step;
    ByteWindow pixel = at;
    if (most > 0 && w.taps.rows > 0) {
      ByteWindow column = at;
      column.taps.columns = 1;
      MaxPixel(column, (count - 1) * step + window, run.top, maxima);
      pixel = {maxima, {.rows = 1, .columns = w.taps.columns, .column_step = run.channels}};
    }
    for (int64_t i = 0; i < count; ++i, pixel.taps.first += step)
      MaxPixel(pixel, run.channels, run.top, out + (p + i) * run.out_stride);
  }
}

// Loads the levels of min(count, kLanes) bytes; those of the other lanes are of bytes 0.
template <class Load>
HWY_INLINE auto LoadSome(const uint8_t* bytes, size_t count, const Load& load) {
  if (count >= kLanes) return load(bytes);
  uint8_t copy[kLanes] = {};
  std::memcpy(copy, bytes, count);
  return load(copy);
}

HWY_INLINE void StoreSome(hn::Vec<Levels::U8> bytes, size_t count, uint8_t* to) {
  if (count >= kLanes) return hn::StoreU(bytes, Levels::U8(), to);
  uint8_t copy[kLanes];
  hn::StoreU(bytes, Levels::U8(), copy);
  std::memcpy(to, copy, count);
}

void AveragePixel(const ByteWindow& w, int64_t channels, const ByteScale& x, const ByteScale& y,
                  uint8_t* out) {
  const F32 d;
  const Levels to_bytes(LeastOf(y), LeastOf(y) + 255, y.is_signed);
  const V32 x_zero = hn::Set(d, x.zero), x_scale = hn::Set(d, x.scale), y_zero = hn::Set(d, y.zero),
            y_scale = hn::Set(d, y.scale), divisor = hn::Set(d, static_cast<float>(w.taps.divisor));
  for (int64_t c = 0; c < channels; c += static_cast<int64_t>(kLanes)) {
    const auto count = static_cast<size_t>(channels - c);
    V32 sum = hn::Zero(d);
    for (int64_t r = 0; r < w.taps.rows; ++r) {
      const uint8_t* in = w.input + w.taps.first + r * w.taps.row_step + c;
      for (int64_t t = 0; t < w.taps.columns; ++t, in += w.taps.column_step) {
        const V32 level =
            LoadSome(in, count, [&](const uint8_t* p) HWY_ATTR { return LoadLevels(p, x.is_signed); });
        sum = hn::Add(sum, hn::Mul(hn::Sub(level, x_zero), x_scale));
      }
    }
    const V32 average = hn::Div(hn::Div(sum, divisor), y_scale);
    StoreSome(to_bytes(hn::Add(average, y_zero)), count, out + c);
  }
}

// Rounds sums of levels over pixels to averages.
void RoundAverages(const ByteScale& x, const ByteScale& y, const int32_t* sums, int64_t pixels, size_t count,
                   uint8_t* output) {
  const F32 d;
  const Levels::I32 d32;
  // The rounding is before the addition of the zero point, so bounds are steps from it.
  const Levels to_bytes(LeastOf(y), LeastOf(y) + 255, y.is_signed);
  const V32 steps = hn::Set(d, x.scale / (y.scale * static_cast<float>(pixels))), y_zero = hn::Set(d, y.zero),
            least = hn::Set(d, LeastOf(y) - y.zero), most = hn::Set(d, LeastOf(y) + 255 - y.zero);
  // Signed bytes were summed as unsigned ones, which are 128 larger.
  const int32_t zero = static_cast<int32_t>(x.zero) + (x.is_signed ? 128 : 0);
  const auto zeros = hn::Set(d32, zero * static_cast<int32_t>(pixels));
  for (size_t c = 0; c < count; c += kLanes) {
    const V32 level = hn::Mul(hn::ConvertTo(d, hn::Sub(hn::LoadU(d32, sums + c), zeros)), steps);
    const V32 rounded = hn::ConvertTo(d, RoundWhole(hn::Min(hn::Max(level, least), most)));
    StoreSome(to_bytes(hn::Add(rounded, y_zero)), count - c, output + c);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(MaxRun);
HWY_EXPORT(AveragePixel);
HWY_EXPORT(RoundAverages);

namespace {

int64_t OutStride(const ConvShape& s) { return s.out_pixel_stride ? s.out_pixel_stride : s.in_channels; }

}  // namespace

void RunByteMaxPool(const PoolShape& shape, bool is_signed, const uint8_t* input, Range pixels,
                    uint8_t* output) {
  const int64_t channels = shape.window.in_channels, stride = OutStride(shape.window);
  const uint8_t top = is_signed ? 0x80 : 0;
  ForPoolRuns(shape, pixels, [&](int64_t pixel, int64_t count, const PoolTaps& taps) {
    HWY_DYNAMIC_DISPATCH(MaxRun)({input, taps}, {count, channels, stride, top}, output + pixel * stride);
  });
}

void RunByteAveragePool(const PoolShape& shape, const ByteScale& x, const ByteScale& y, const uint8_t* input,
                        Range pixels, uint8_t* output) {
  const int64_t channels = shape.window.in_channels, stride = OutStride(shape.window);
  ForPoolTaps(shape, pixels, [&](int64_t pixel, const PoolTaps& taps) {
    HWY_DYNAMIC_DISPATCH(AveragePixel)({input, taps}, channels, x, y, output + pixel * stride);
  });
}

void RunByteGlobalAverage(const ByteScale& x, const ByteScale& y, const uint8_t* input, int64_t pixels,
                          int64_t all, Range channels, uint8_t* output) {
  constexpr int64_t kTogether = 256;  // channels
  constexpr size_t kVector = 64;      // sums behind the last one, which are read and not used
  std::array<int32_t, kTogether + kVector> sums = {};
  for (int64_t c = channels.begin; c < channels.end; c += kTogether) {
    const int64_t count = std::min(kTogether, channels.end - c);
    SumByteColumns({input + c, pixels, count, all, uint8_t(x.is_signed ? 0x80 : 0)}, sums.data());
    HWY_DYNAMIC_DISPATCH(RoundAverages)(x, y, sums.data(), pixels, static_cast<size_t>(count), output + c);
  }
}

}  // namespace mete
#endif  // HWY_ONCE
