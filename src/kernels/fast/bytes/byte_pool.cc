#include "kernels/fast/bytes/byte_pool.h"

#include <cstring>

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
    for (int64_t x = 0; x < w.taps.columns; ++x, in += w.taps.column_step)
      best = hn::Max(best, hn::Xor(hn::LoadU(d, in), flip));
  }
  return hn::Xor(best, flip);
}

void MaxPixel(const ByteWindow& w, int64_t channels, bool is_signed, uint8_t* out) {
  const hn::ScalableTag<uint8_t> d;
  const uint8_t top = is_signed ? 0x80 : 0;
  const auto flip = hn::Set(d, top);
  if (ForVectors(channels, static_cast<int64_t>(hn::Lanes(d)),
                 [&](int64_t c) HWY_ATTR { hn::StoreU(MaxOfTaps(d, w, c, flip), d, out + c); }))
    return;
  const hn::CappedTag<uint8_t, 8> d8;
  const auto flip8 = hn::Set(d8, top);
  if (ForVectors(channels, static_cast<int64_t>(hn::Lanes(d8)),
                 [&](int64_t c) HWY_ATTR { hn::StoreU(MaxOfTaps(d8, w, c, flip8), d8, out + c); }))
    return;
  const hn::CappedTag<uint8_t, 1> d1;
  const auto flip1 = hn::Set(d1, top);
  ForVectors(channels, 1, [&](int64_t c) HWY_ATTR { hn::StoreU(MaxOfTaps(d1, w, c, flip1), d1, out + c); });
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

void GlobalAverage(const ByteScale& x, const ByteScale& y, const uint8_t* input, int64_t pixels, int64_t all,
                   Range channels, uint8_t* output) {
  const F32 d;
  const Levels::I32 d32;
  // The rounding is before the addition of the zero point, so bounds are steps from it.
  const Levels to_bytes(LeastOf(y), LeastOf(y) + 255, y.is_signed);
  const V32 steps = hn::Set(d, x.scale / (y.scale * static_cast<float>(pixels))), y_zero = hn::Set(d, y.zero),
            least = hn::Set(d, LeastOf(y) - y.zero), most = hn::Set(d, LeastOf(y) + 255 - y.zero);
  const auto zeros = hn::Set(d32, static_cast<int32_t>(x.zero) * static_cast<int32_t>(pixels));
  for (int64_t c = channels.begin; c < channels.end; c += static_cast<int64_t>(kLanes)) {
    const auto count = static_cast<size_t>(channels.end - c);
    auto sum = hn::Zero(d32);
    for (int64_t p = 0; p < pixels; ++p)
      sum = hn::Add(sum, LoadSome(input + p * all + c, count,
                                  [&](const uint8_t* q) HWY_ATTR { return LoadWhole(q, x.is_signed); }));
    const V32 level = hn::Mul(hn::ConvertTo(d, hn::Sub(sum, zeros)), steps);
    const V32 rounded = hn::ConvertTo(d, RoundWhole(hn::Min(hn::Max(level, least), most)));
    StoreSome(to_bytes(hn::Add(rounded, y_zero)), count, output + c);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(MaxPixel);
HWY_EXPORT(AveragePixel);
HWY_EXPORT(GlobalAverage);

namespace {

// Calls f(window, first byte of the output pixel) for each of `pixels`.
template <class F>
void ForPixels(const PoolShape& shape, const uint8_t* input, Range pixels, uint8_t* output, const F& f) {
  const ConvShape& s = shape.window;
  const int64_t stride = s.out_pixel_stride ? s.out_pixel_stride : s.in_channels;
  for (int64_t p = pixels.begin; p < pixels.end; ++p)
    f(ByteWindow{input, PoolTapsAt(shape, p)}, output + p * stride);
}

}  // namespace

void RunByteMaxPool(const PoolShape& shape, bool is_signed, const uint8_t* input, Range pixels,
                    uint8_t* output) {
  ForPixels(shape, input, pixels, output, [&](const ByteWindow& w, uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(MaxPixel)(w, shape.window.in_channels, is_signed, out);
  });
}

void RunByteAveragePool(const PoolShape& shape, const ByteScale& x, const ByteScale& y, const uint8_t* input,
                        Range pixels, uint8_t* output) {
  ForPixels(shape, input, pixels, output, [&](const ByteWindow& w, uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(AveragePixel)(w, shape.window.in_channels, x, y, out);
  });
}

void RunByteGlobalAverage(const ByteScale& x, const ByteScale& y, const uint8_t* input, int64_t pixels,
                          int64_t all, Range channels, uint8_t* output) {
  HWY_DYNAMIC_DISPATCH(GlobalAverage)(x, y, input, pixels, all, channels, output);
}

}  // namespace mete
#endif  // HWY_ONCE
