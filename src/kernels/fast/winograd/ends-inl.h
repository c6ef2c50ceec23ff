// The ends of Winograd's transforms (transform-inl.h), with channels in the lanes: sources, from which they
// load the inputs, and sinks, to which they give the outputs.
#if defined(METE_WINOGRAD_ENDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_WINOGRAD_ENDS_INL_H
#undef METE_WINOGRAD_ENDS_INL_H
#else
#define METE_WINOGRAD_ENDS_INL_H
#endif

#include <cstring>

#include "kernels/fast/activation-inl.h"
#include "kernels/fast/bytes/levels-inl.h"
#include "kernels/fast/winograd/tiles.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Loads floats.
struct FloatSource {
  HWY_INLINE V32 operator()(const float* from) const { return hn::LoadU(F32(), from); }
  HWY_INLINE V32 operator()(const float* from, size_t count) const { return LoadN(F32(), from, count); }
};

// Loads bytes as their distances from the zero point, which are exact. The flip makes unsigned bytes of
// signed ones, 128 larger, of which `zero_` is the zero point.
class ByteSource {
 public:
  ByteSource(bool is_signed, int32_t zero)
      : flip_(hn::Set(U8(), is_signed ? 0x80 : 0)), zero_(hn::Set(I32(), zero + (is_signed ? 128 : 0))) {}

  HWY_INLINE V32 operator()(const uint8_t* from) const {
    const auto bytes = hn::Xor(hn::LoadU(U8(), from), flip_);
    return hn::ConvertTo(F32(), hn::Sub(hn::PromoteTo(I32(), bytes), zero_));
  }
  HWY_INLINE V32 operator()(const uint8_t* from, size_t count) const {
    if (count >= kLanes) return (*this)(from);
    uint8_t lanes[kLanes] = {};
    CopyFewer<kLanes / 2>(from, lanes, count);
    return (*this)(lanes);
  }

 private:
  using I32 = Levels::I32;
  using U8 = Levels::U8;
  hn::Vec<U8> flip_;
  hn::Vec<I32> zero_;
};

// Writes one vector of `count` channels of a tile of floats: adds bias and residual, and clamps. kWhole: the
// vector has all its lanes.
template <bool kWhole>
class FloatSink {
 public:
  HWY_INLINE FloatSink(const OutputTile& t, int64_t channel, size_t count, V32 low, V32 high)
      : t_(t),
        channel_(channel),
        count_(count),
        bias_(t.bias ? LoadN(F32(), t.bias + channel, count) : hn::Zero(F32())),
        low_(low),
        high_(high) {}

  HWY_INLINE void operator()(V32 sum, int y, int x) const {
    const F32 d;
    float* to = t_.output + y * t_.row_stride + x * t_.pixel_stride + channel_;
    V32 v = hn::Add(sum, bias_);
    if (t_.residual) {
      const float* residual = t_.residual + y * t_.residual_row_stride + x * t_.residual_stride + channel_;
      v = hn::Add(v, kWhole ? hn::LoadU(d, residual) : LoadN(d, residual, count_));
    }
    v = Clamp(v, low_, high_);
    if constexpr (kWhole) hn::StoreU(v, d, to);
    else StoreN(v, d, to, count_);
  }

 private:
  const OutputTile& t_;
  const int64_t channel_;
  const size_t count_;
  const V32 bias_, low_, high_;
};

// The same for a tile of bytes: adds the bias, scales, and rounds to levels.
template <bool kWhole>
class ByteSink {
 public:
  HWY_INLINE ByteSink(const ByteOutputTile& t, int64_t channel, size_t count, const Levels& levels)
      : t_(t),
        channel_(channel),
        count_(count),
        bias_(LoadN(F32(), t.bias + channel, count)),
        scale_(LoadN(F32(), t.scale + channel, count)),
        levels_(levels) {}

  HWY_INLINE void operator()(V32 sum, int y, int x) const {
    uint8_t* to = t_.output + y * t_.row_stride + x * t_.pixel_stride + channel_;
    const auto bytes = levels_(hn::Mul(hn::Add(sum, bias_), scale_));
    if constexpr (kWhole) {
      hn::StoreU(bytes, Levels::U8(), to);
    } else {
      uint8_t lanes[kLanes];
      hn::StoreU(bytes, Levels::U8(), lanes);
      if (count_ >= kLanes) std::memcpy(to, lanes, kLanes);
      else CopyFewer<kLanes / 2>(lanes, to, count_);
    }
  }

 private:
  const ByteOutputTile& t_;
  const int64_t channel_;
  const size_t count_;
  const V32 bias_, scale_;
  const Levels& levels_;
};

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
