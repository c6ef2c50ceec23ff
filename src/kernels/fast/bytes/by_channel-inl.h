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

// The bytes of a vector, or of half of one: a panel of so few channels has two pixels in a vector.
constexpr size_t kHalfBytes = kVectorBytes / 2;

// An array of the channels of a panel in the order of quads; twice where two pixels share a vector.
template <class T>
struct ByQuad {
  ByQuad(const T* channels, size_t count) {
    const size_t period = count <= kHalfBytes ? kHalfBytes : kVectorBytes;
    for (size_t j = 0; j < kQuad; ++j)
      for (size_t l = 0; l < kLanes; ++l) {
        const size_t c = ChannelOfQuad(j, l) % std::max<size_t>(period, 1);
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
        const PlaceInQuads place(s.taps, tap);
        sum += x * s.panel[(place.quad * kVectorBytes + c) * kQuad + place.byte];
        inputs += x;
      }
      if (kZeros) sum += s.epilogue.weight_zeros[c] * (inputs - s.input_zero * static_cast<int32_t>(s.taps));
      const size_t at = row * s.out_stride + c;
      if (s.epilogue.scale)
        static_cast<uint8_t*>(s.out)[at] =
            hn::GetLane(to_bytes.Bytes(hn::Set(I32(), sum), hn::Set(F32(), s.epilogue.scale[c])));
      else static_cast<int32_t*>(s.out)[at] = sum;
    }
}
#else

using HalfBytes = hn::Half<Bytes>;

// Loads `count` bytes; those behind them are zero.
template <class D>
HWY_INLINE hn::Vec<D> LoadBytes(D d, const uint8_t* p, size_t count) {
  if (count >= hn::Lanes(d)) return hn::LoadU(d, p);
#if HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN uint8_t lanes[hn::MaxLanes(d)] = {};
  std::memcpy(lanes, p, count);
  return hn::Load(d, lanes);
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

// A panel of channels. kZeros: the weights have zero points. kNine: there are nine taps, whose quads are
// columns of three (PlaceInQuads). kPixels: the pixels that a vector has, 1 or 2.
template <class Dot, bool kZeros, bool kNine, int kPixels>
class PanelOfChannels {
 public:
  explicit PanelOfChannels(const ByteStrip& s)
      : s_(s),
        bias_(s.epilogue.bias, s.columns),
        zeros_(s.epilogue.weight_zeros, s.columns),
        scale_(s.epilogue.scale, s.columns),
        to_levels_(s.epilogue),
        to_bytes_(NarrowerOf(s.epilogue)),
        flip_(hn::Set(Bytes(), static_cast<uint8_t>(s.flip))),
        inputs_of_zeros_(hn::Set(I32(), s.input_zero * static_cast<int32_t>(s.taps))) {
    std::fill_n(ones_, kVectorBytes, int8_t{1});
    if constexpr (kNine)
      for (size_t t = 0; t < kNineTaps; ++t) taps_[t] = s.rows + t * s.tap_stride;
  }

  HWY_INLINE void Run() const {
    if constexpr (kNine) RunColumns();
    else RunQuads();
  }

 private:
  static constexpr size_t kColumns = 3;  // of a kernel of 3x3

  // The sums of a vector of bytes, and with kZeros those of the inputs alone.
  struct Products {
    HWY_INLINE Products() {
#pragma GCC unroll 4
      for (size_t j = 0; j < kQuad; ++j) sums[j] = inputs[j] = Dot::Zero();
    }
    HWY_INLINE void Add(const VI32 (&quads)[kQuad], const int8_t* w, const int8_t* ones) {
#pragma GCC unroll 4
      for (size_t j = 0; j < kQuad; ++j) {
        const typename Dot::Inputs x = Dot::Split(quads[j]);
        Dot::Add(x, Dot::Load(w + j * kVectorBytes), sums[j]);
        if constexpr (kZeros) Dot::Add(x, Dot::Load(ones), inputs[j]);
      }
    }
    typename Dot::Sums sums[kQuad], inputs[kQuad];
  };

  HWY_INLINE const uint8_t* Tap(size_t tap, size_t row) const {
    if constexpr (kNine) return taps_[tap][row];
    return s_.rows[tap * s_.tap_stride + row];
  }

  HWY_INLINE void RunQuads() const {
    const bool nine = s_.taps == kNineTaps;
    const size_t length = nine ? kColumns : kQuad, quads = (s_.taps + length - 1) / length;
    for (size_t row = 0; row < s_.row_count; row += kPixels) {
      Products products;
      const int8_t* w = s_.panel;
      for (size_t q = 0; q < quads; ++q, w += kQuad * kVectorBytes) {
        VI32 bytes[kQuad];
        if (nine) LoadQuads(row, q, kColumns, kColumns, bytes);
        else LoadQuads(row, q * kQuad, 1, std::min(kQuad, s_.taps - q * kQuad), bytes);
        products.Add(bytes, w, ones_);
      }
      Store(row, products);
    }
  }

  // Where a window steps by one column, the last two columns of a pixel are the first two of the next one;
  // where it steps by two, or two pixels share a vector, the last column is the first one. The columns are in
  // variables of their own, so that the compiler keeps them in registers.
  HWY_INLINE void RunColumns() const {
    constexpr size_t kColumn = kQuad * kVectorBytes;  // bytes of weights
    VI32 first[kQuad], second[kQuad], third[kQuad];
    for (size_t j = 0; j < kQuad; ++j) first[j] = second[j] = third[j] = hn::Zero(I32());
    for (size_t row = 0; row < s_.row_count; row += kPixels) {
      const bool one = kPixels == 1 && row > 0 && Repeats(0, row, 1) && Repeats(1, row, 2);
      if (one) {
        Copy(second, first);
        Copy(third, second);
      } else {
        if (row > 0 && row + kPixels <= s_.row_count && RepeatsLast(row)) Copy(third, first);
        else LoadColumn(row, 0, first);
        LoadColumn(row, 1, second);
      }
      LoadColumn(row, 2, third);
      Products products;
      products.Add(first, s_.panel, ones_);
      products.Add(second, s_.panel + kColumn, ones_);
      products.Add(third, s_.panel + 2 * kColumn, ones_);
      Store(row, products);
    }
  }

  static HWY_INLINE void Copy(const VI32 (&from)[kQuad], VI32 (&to)[kQuad]) {
#pragma GCC unroll 4
    for (size_t j = 0; j < kQuad; ++j) to[j] = from[j];
  }

  HWY_INLINE void LoadColumn(size_t row, size_t q, VI32 (&quads)[kQuad]) const {
    LoadQuads(row, q, kColumns, kColumns, quads);
  }

  // Returns true if column `q` of the pixel in `row` is column `before` of the pixel kPixels before it.
  HWY_INLINE bool Repeats(size_t q, size_t row, size_t before) const {
    return taps_[q][row] == taps_[before][row - kPixels] &&
           taps_[kColumns + q][row] == taps_[kColumns + before][row - kPixels] &&
           taps_[2 * kColumns + q][row] == taps_[2 * kColumns + before][row - kPixels];
  }

  // Returns true if the first column of each pixel of a vector is the last one of the vector before.
  HWY_INLINE bool RepeatsLast(size_t row) const {
    return Repeats(0, row, 2) && (kPixels == 1 || Repeats(0, row + 1, 2));
  }

  // Loads `count` taps, each `step` behind the one before; others of the quads are zero, as their weights
  // are.
  HWY_INLINE void LoadQuads(size_t row, size_t first, size_t step, size_t count, VI32 (&quads)[kQuad]) const {
    VBytes bytes[kQuad];
#pragma GCC unroll 4
    for (size_t t = 0; t < kQuad; ++t)
      bytes[t] = t < count ? hn::Xor(LoadTap(first + t * step, row), flip_) : hn::Zero(Bytes());
    Interleave(bytes, quads);
  }

  HWY_INLINE VBytes LoadTap(size_t tap, size_t row) const {
    const uint8_t* from = Tap(tap, row) + s_.offset;
    if constexpr (kPixels == 1) return LoadBytes(Bytes(), from, s_.columns);
    const uint8_t* next = Tap(tap, std::min(row + 1, s_.row_count - 1)) + s_.offset;
    // Pixels with as many bytes as half a vector may be neighbours in memory.
    if (next == from + kHalfBytes && s_.columns == kHalfBytes) return hn::LoadU(Bytes(), from);
    const HalfBytes d;
    return hn::Combine(Bytes(), LoadBytes(d, next, s_.columns), LoadBytes(d, from, s_.columns));
  }

  HWY_INLINE void Store(size_t row, const Products& products) const {
    VI32 sums[kQuad];
#pragma GCC unroll 4
    for (size_t j = 0; j < kQuad; ++j) {
      sums[j] = hn::Add(Dot::Total(products.sums[j]), hn::Load(I32(), bias_.at + j * kLanes));
      if constexpr (kZeros)
        sums[j] = hn::Add(sums[j], hn::Mul(hn::Load(I32(), zeros_.at + j * kLanes),
                                           hn::Sub(Dot::Total(products.inputs[j]), inputs_of_zeros_)));
    }
    if (s_.epilogue.scale) StoreAsBytes(row, sums);
    else StoreSums(row, sums);
  }

  HWY_INLINE void StoreAsBytes(size_t row, VI32 (&sums)[kQuad]) const {
#pragma GCC unroll 4
    for (size_t j = 0; j < kQuad; ++j) {
      const V32 scale = hn::Load(F32(), scale_.at + j * kLanes);
      sums[j] = s_.epilogue.small_scales ? to_levels_(sums[j], scale) : to_levels_.Clamped(sums[j], scale);
    }
    const VBytes bytes = to_bytes_(sums);
    uint8_t* out = static_cast<uint8_t*>(s_.out) + row * s_.out_stride;
    if constexpr (kPixels == 1) return StoreBytes(bytes, Bytes(), out, s_.columns);
    const HalfBytes d;
    StoreBytes(hn::LowerHalf(d, bytes), d, out, s_.columns);
    if (row + 1 < s_.row_count) StoreBytes(hn::UpperHalf(d, bytes), d, out + s_.out_stride, s_.columns);
  }

  HWY_NOINLINE void StoreSums(size_t row, const VI32 (&sums)[kQuad]) const {
    HWY_ALIGN int32_t lanes[kVectorBytes];
    for (size_t j = 0; j < kQuad; ++j) hn::Store(sums[j], I32(), lanes + j * kLanes);
    constexpr size_t kPeriod = kVectorBytes / kPixels;
    for (size_t i = 0; i < kVectorBytes; ++i) {
      const size_t at = ChannelOfQuad(i / kLanes, i % kLanes), c = at % kPeriod, pixel = row + at / kPeriod;
      if (c < s_.columns && pixel < s_.row_count)
        static_cast<int32_t*>(s_.out)[pixel * s_.out_stride + c] = lanes[i];
    }
  }

  const ByteStrip& s_;
  const ByQuad<int32_t> bias_, zeros_;
  const ByQuad<float> scale_;
  const Requantize to_levels_;
  const Narrower to_bytes_;
  const VBytes flip_;
  const VI32 inputs_of_zeros_;
  HWY_ALIGN int8_t ones_[kVectorBytes];
  const uint8_t* const* taps_[kNineTaps];
};

template <class Dot, bool kNine>
void RunByChannelOf(const ByteStrip& s) {
  if (s.columns <= kHalfBytes) return PanelOfChannels<Dot, false, kNine, 2>(s).Run();
  PanelOfChannels<Dot, false, kNine, 1>(s).Run();
}

// Zero points of weights are rare, so they have no fast code for nine taps or few channels.
template <class Dot, bool kZeros>
void RunByChannel(const ByteStrip& s) {
  if constexpr (kZeros) PanelOfChannels<Dot, true, false, 1>(s).Run();
  else if (s.taps == kNineTaps) RunByChannelOf<Dot, true>(s);
  else RunByChannelOf<Dot, false>(s);
}
#endif

template <class Dot>
void RunChannels(const ByteStrip& s) {
  if (s.epilogue.weight_zeros) return RunByChannel<Dot, true>(s);
  RunByChannel<Dot, false>(s);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
