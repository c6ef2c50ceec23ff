// Depthwise convolution of bytes. A vector has the bytes of neighbouring channels at one tap. Four taps are
// interleaved into four vectors of quads, a quad for each channel, which Dot multiplies and adds.
#if defined(METE_BY_CHANNEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_BY_CHANNEL_INL_H
#undef METE_BY_CHANNEL_INL_H
#else
#define METE_BY_CHANNEL_INL_H
#endif

#include "kernels/fast/bytes/byte_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

constexpr size_t kVectorBytes = kQuad * kLanes;

// Returns the channel of a quad within its panel. Instructions interleave 16 bytes at a time: lane l of
// vector j has channel 4j + l % 4 of the 16 channels from l / 4 * 16 on.
constexpr size_t ChannelOfQuad(size_t vector, size_t lane) {
#if HWY_TARGET == HWY_SCALAR
  return vector + lane;  // a vector has one lane
#else
  return lane / 4 * 16 + vector * 4 + lane % 4;
#endif
}

// An array of the channels of a panel in the order of quads.
template <class T>
struct ByQuad {
  ByQuad(const T* channels, size_t count) {
    for (size_t j = 0; j < kQuad; ++j)
      for (size_t l = 0; l < kLanes; ++l) {
        const size_t c = ChannelOfQuad(j, l);
        at[j * kLanes + l] = channels && c < count ? channels[c] : T{};
      }
  }
  HWY_ALIGN T at[kVectorBytes];
};

#if HWY_TARGET == HWY_SCALAR
// Plain loops: a vector of one lane has no bytes to interleave.
template <class Dot, bool kZeros>
void RunByChannel(const ByteStrip& s) {
  const Requantize to_bytes(s.epilogue);
  for (size_t row = 0; row < s.row_count; ++row)
    for (size_t c = 0; c < s.columns; ++c) {
      int32_t sum = s.epilogue.bias[c], inputs = 0;
      for (size_t tap = 0; tap < s.taps; ++tap) {
        const int32_t x = s.rows[tap * s.tap_stride + row][s.offset + c] ^ (s.flip & 0xff);
        sum += x * s.panel[(tap / kQuad * kVectorBytes + c) * kQuad + tap % kQuad];
        inputs += x;
      }
      if (kZeros) sum += s.epilogue.weight_zeros[c] * (inputs - s.input_zero * static_cast<int32_t>(s.taps));
      const size_t at = row * s.out_stride + c;
      if (s.epilogue.scale)
        static_cast<uint8_t*>(s.out)[at] =
            hn::GetLane(to_bytes(hn::Set(I32(), sum), hn::Set(F32(), s.epilogue.scale[c])));
      else static_cast<int32_t*>(s.out)[at] = sum;
    }
}
#else

using Bytes = hn::Repartition<uint8_t, I32>;
using VBytes = hn::Vec<Bytes>;

HWY_INLINE VBytes LoadBytes(const uint8_t* p, size_t count) {
  if (count >= kVectorBytes) return hn::LoadU(Bytes(), p);
#if HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(Bytes(), count), Bytes(), p);
#else
  HWY_ALIGN uint8_t lanes[kVectorBytes] = {};
  std::memcpy(lanes, p, count);
  return hn::Load(Bytes(), lanes);
#endif
}

// Returns the bytes of four vectors of numbers from 0 to 255, in the channels' order.
HWY_INLINE VBytes Narrow(const VI32 (&numbers)[kQuad]) {
  const hn::Repartition<int16_t, I32> d16;
  const auto lower = hn::ReorderDemote2To(d16, numbers[0], numbers[1]),
             upper = hn::ReorderDemote2To(d16, numbers[2], numbers[3]);
#if HWY_TARGET == HWY_AVX3
  return VBytes{_mm512_packus_epi16(lower.raw, upper.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VBytes{_mm256_packus_epi16(lower.raw, upper.raw)};
#else
  const hn::Half<Bytes> half;  // these targets have vectors of 16 bytes
  return hn::Combine(Bytes(), hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
#endif
}

// Interleaves the bytes of four taps.
HWY_INLINE void Interleave(const VBytes (&taps)[kQuad], VI32 (&quads)[kQuad]) {
  const Bytes d;
  const hn::Repartition<uint16_t, I32> d16;
  const auto lower01 = hn::BitCast(d16, hn::InterleaveLower(d, taps[0], taps[1])),
             upper01 = hn::BitCast(d16, hn::InterleaveUpper(d, taps[0], taps[1])),
             lower23 = hn::BitCast(d16, hn::InterleaveLower(d, taps[2], taps[3])),
             upper23 = hn::BitCast(d16, hn::InterleaveUpper(d, taps[2], taps[3]));
  quads[0] = hn::BitCast(I32(), hn::InterleaveLower(d16, lower01, lower23));
  quads[1] = hn::BitCast(I32(), hn::InterleaveUpper(d16, lower01, lower23));
  quads[2] = hn::BitCast(I32(), hn::InterleaveLower(d16, upper01, upper23));
  quads[3] = hn::BitCast(I32(), hn::InterleaveUpper(d16, upper01, upper23));
}

// A panel of channels. kZeros: the weights have zero points. kTaps: the number of taps, or 0 for any.
template <class Dot, bool kZeros, int kTaps>
class PanelOfChannels {
 public:
  explicit PanelOfChannels(const ByteStrip& s)
      : s_(s),
        bias_(s.epilogue.bias, s.columns),
        zeros_(s.epilogue.weight_zeros, s.columns),
        scale_(s.epilogue.scale, s.columns),
        to_bytes_(s.epilogue),
        flip_(hn::Set(Bytes(), static_cast<uint8_t>(s.flip))),
        flip_out_(hn::Set(Bytes(), s.epilogue.is_signed ? 0x80 : 0)),
        inputs_of_zeros_(hn::Set(I32(), s.input_zero * static_cast<int32_t>(s.taps))) {
    std::fill_n(ones_, kVectorBytes, int8_t{1});
  }

  HWY_INLINE void Run(size_t row) const {
    VI32 sums[kQuad];
    Sum(row, sums);
    if (s_.epilogue.scale) StoreAsBytes(row, sums);
    else StoreSums(row, sums);
  }

 private:
  HWY_INLINE size_t taps() const { return kTaps > 0 ? kTaps : s_.taps; }

  HWY_INLINE void Sum(size_t row, VI32 (&totals)[kQuad]) const {
    typename Dot::Sums sums[kQuad], inputs[kQuad];
#pragma GCC unroll 4
    for (size_t j = 0; j < kQuad; ++j) sums[j] = inputs[j] = Dot::Zero();
    const int8_t* w = s_.panel;
    const auto add = [&](size_t first) HWY_ATTR {
      VI32 quads[kQuad];
      LoadQuads(row, first, quads);
#pragma GCC unroll 4
      for (size_t j = 0; j < kQuad; ++j, w += kVectorBytes) {
        const typename Dot::Inputs x = Dot::Split(quads[j]);
        Dot::Add(x, Dot::Load(w), sums[j]);
        if constexpr (kZeros) Dot::Add(x, Dot::Load(ones_), inputs[j]);
      }
    };
    if constexpr (kTaps > 0) {
#pragma GCC unroll 16
      for (size_t first = 0; first < size_t{kTaps}; first += kQuad) add(first);
    } else {
      for (size_t first = 0; first < s_.taps; first += kQuad) add(first);
    }
#pragma GCC unroll 4
    for (size_t j = 0; j < kQuad; ++j) {
      totals[j] = hn::Add(Dot::Total(sums[j]), hn::Load(I32(), bias_.at + j * kLanes));
      if constexpr (kZeros)
        totals[j] = hn::Add(totals[j], hn::Mul(hn::Load(I32(), zeros_.at + j * kLanes),
                                               hn::Sub(Dot::Total(inputs[j]), inputs_of_zeros_)));
    }
  }

  // Loads four taps from `first` on; those that are not there are zero, as their weights are.
  HWY_INLINE void LoadQuads(size_t row, size_t first, VI32 (&quads)[kQuad]) const {
    VBytes bytes[kQuad];
#pragma GCC unroll 4
    for (size_t t = 0; t < kQuad; ++t) {
      bytes[t] = hn::Zero(Bytes());
      if (first + t >= taps()) continue;
      const uint8_t* from = s_.rows[(first + t) * s_.tap_stride + row] + s_.offset;
      bytes[t] = hn::Xor(LoadBytes(from, s_.columns), flip_);
    }
    Interleave(bytes, quads);
  }

  HWY_INLINE void StoreAsBytes(size_t row, VI32 (&sums)[kQuad]) const {
#pragma GCC unroll 4
    for (size_t j = 0; j < kQuad; ++j)
      sums[j] = to_bytes_.Unsigned(sums[j], hn::Load(F32(), scale_.at + j * kLanes));
    StoreBytes(hn::Xor(Narrow(sums), flip_out_), Bytes(), static_cast<uint8_t*>(s_.out) + row * s_.out_stride,
               s_.columns);
  }

  HWY_NOINLINE void StoreSums(size_t row, const VI32 (&sums)[kQuad]) const {
    HWY_ALIGN int32_t lanes[kVectorBytes];
    for (size_t j = 0; j < kQuad; ++j) hn::Store(sums[j], I32(), lanes + j * kLanes);
    int32_t* out = static_cast<int32_t*>(s_.out) + row * s_.out_stride;
    for (size_t i = 0; i < kVectorBytes; ++i)
      if (const size_t c = ChannelOfQuad(i / kLanes, i % kLanes); c < s_.columns) out[c] = lanes[i];
  }

  const ByteStrip& s_;
  const ByQuad<int32_t> bias_, zeros_;
  const ByQuad<float> scale_;
  const Requantize to_bytes_;
  const VBytes flip_, flip_out_;
  const VI32 inputs_of_zeros_;
  HWY_ALIGN int8_t ones_[kVectorBytes];
};

template <class Dot, bool kZeros, int kTaps = 0>
void RunByChannel(const ByteStrip& s) {
  const PanelOfChannels<Dot, kZeros, kTaps> panel(s);
  for (size_t row = 0; row < s.row_count; ++row) panel.Run(row);
}
#endif

template <class Dot>
void RunChannels(const ByteStrip& s) {
  if (s.epilogue.weight_zeros) return RunByChannel<Dot, true>(s);
#if HWY_TARGET != HWY_SCALAR
  if (s.taps == 9) return RunByChannel<Dot, false, 9>(s);
#endif
  RunByChannel<Dot, false>(s);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
