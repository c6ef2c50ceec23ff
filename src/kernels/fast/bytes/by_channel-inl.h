// Depthwise convolution of bytes. A vector has the bytes of neighbouring channels at one tap. The taps of a
// kernel's column are interleaved, four at a time, into vectors of quads, a quad for each channel, which Dot
// multiplies and adds. Outputs that share a column of the input share its quads: those of a kernel of 3x3
// stay in registers; with other kernels the quads of all columns that a piece of an output row reads are made
// first, and the first cache keeps them.
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

// The input's row that a row of taps reads, from its first pixel on.
struct RowOfTaps {
  RowOfTaps(const ChannelStrip& s, int64_t image, int64_t y) {
    const ConvShape& shape = *s.shape;
    const bool inside = y >= 0 && y < shape.in_height;
    step = inside ? s.in_stride : 0;
    first = inside ? s.input + (image * shape.in_height + y) * shape.in_width * s.in_stride : s.padding;
  }
  const uint8_t* first;
  int64_t step;  // bytes from a pixel to the next; 0: all of them are padding
};

#if HWY_TARGET == HWY_SCALAR
// Plain loops: a vector of one lane has no bytes to interleave.
template <class Dot>
void RunChannels(const ChannelStrip& s) {
  const ConvShape& shape = *s.shape;
  const ByteEpilogue& e = s.epilogue;
  const Requantize to_bytes(e);
  for (int64_t p = s.pixels.begin; p < s.pixels.end; ++p) {
    const int64_t x = p % shape.out_width, y = p / shape.out_width % shape.out_height,
                  image = p / shape.out_width / shape.out_height;
    for (size_t c = 0; c < s.columns; ++c) {
      int32_t sum = e.bias[c], inputs = 0;
      for (int64_t ky = 0; ky < shape.kernel_height; ++ky) {
        const RowOfTaps row(s, image, y * shape.stride_y - shape.pad_top + ky * shape.dilation_y);
        for (int64_t kx = 0; kx < shape.kernel_width; ++kx) {
          const int64_t at = x * shape.stride_x - shape.pad_left + kx * shape.dilation_x;
          const uint8_t* from = at >= 0 && at < shape.in_width ? row.first + at * row.step : s.padding;
          const int32_t input = from[c] ^ (s.flip & 0xff);
          const PlaceInQuads place(shape.kernel_height, ky, kx);
          sum += input * s.panel[(static_cast<size_t>(place.quad) * kVectorBytes + c) * kQuad +
                                 static_cast<size_t>(place.byte)];
          inputs += input - s.input_zero;
        }
      }
      if (e.weight_zeros) sum += e.weight_zeros[c] * inputs;
      const size_t at = static_cast<size_t>(p - s.pixels.begin) * s.out_stride + c;
      if (e.scale)
        static_cast<uint8_t*>(s.out)[at] =
            hn::GetLane(to_bytes.Bytes(hn::Set(I32(), sum), hn::Set(F32(), e.scale[c])));
      else static_cast<int32_t*>(s.out)[at] = sum;
    }
  }
}
#else

using HalfBytes = hn::Half<Bytes>;

// An array of the channels of a panel in the order of quads; twice where two pixels share a vector. The array
// has a vector of elements behind the last channel (ByteEpilogue).
template <class T>
struct ByQuad {
  ByQuad(const T* channels, size_t count) {
    constexpr size_t kRun = 4;  // neighbouring lanes with neighbouring channels
    const size_t period = count <= kHalfBytes ? kHalfBytes : kVectorBytes;
    for (size_t j = 0; j < kQuad; ++j)
      for (size_t l = 0; l < kLanes; l += kRun) {
        if (channels)
          std::memcpy(at + j * kLanes + l, channels + ChannelOfQuad(j, l) % period, kRun * sizeof(T));
        else std::fill_n(at + j * kLanes + l, kRun, T{});
      }
  }
  HWY_ALIGN T at[kVectorBytes];
};

// Loads `count` bytes; those behind them are zero.
template <class D>
HWY_INLINE hn::Vec<D> LoadBytes(D d, const uint8_t* p, size_t count) {
#if HWY_TARGET == HWY_AVX3
  if (count >= hn::Lanes(d)) return hn::LoadU(d, p);
  return hn::MaskedLoad(hn::FirstN(d, count), d, p);
#else
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::LoadU(d, p);
  HWY_ALIGN uint8_t lanes[hn::MaxLanes(d)] = {};
  CopyFewer<hn::MaxLanes(d) / 2>(p, lanes, count);
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

// A panel of channels. kBytes: the output is bytes with small scales, and the weights have no zero points;
// the code for anything else is not as fast. kPixels: the pixels that a vector has, 1 or 2; then the pixels
// of a piece are two halves, whose pixels are neighbours in vectors.
template <class Dot, bool kBytes, int kPixels>
class PanelOfChannels {
 public:
  explicit PanelOfChannels(const ChannelStrip& s)
      : s_(s),
        shape_(*s.shape),
        columns_(shape_),
        bias_(s.epilogue.bias, s.columns),
        zeros_(s.epilogue.weight_zeros, s.columns),
        scale_(s.epilogue.scale, s.columns),
        to_levels_(s.epilogue),
        to_bytes_(NarrowerOf(s.epilogue)),
        flip_(hn::Set(Bytes(), static_cast<uint8_t>(s.flip))) {
    const int64_t taps = shape_.kernel_height * shape_.kernel_width;
    inputs_of_zeros_ = hn::Set(I32(), s.input_zero * static_cast<int32_t>(taps));
  }

  // Computes the pixels row by row, and a row in pieces whose columns fit the working memory.
  void Run() const {
    const int64_t most = columns_.MostOutputs() * kPixels;
    for (int64_t p = s_.pixels.begin; p < s_.pixels.end;) {
      const int64_t x = p % shape_.out_width, row = p / shape_.out_width,
                    count = std::min(shape_.out_width - x, s_.pixels.end - p);
      const EvenPieces pieces(count, most);
      for (int64_t i = 0; i < pieces.count(); ++i)
        RunPiece(row, x + pieces[i].begin, pieces[i].size(), p + pieces[i].begin - s_.pixels.begin);
      p += count;
    }
  }

 private:
  static constexpr size_t kBlock = ChannelColumns::kVectors * kVectorBytes;  // bytes of a quad of taps
  static constexpr int kOutputs = Dot::kMostVectors;  // whose sums are in registers at once

  void RunPiece(int64_t row, int64_t x, int64_t count, int64_t to) const {
    const int64_t outputs = (count + kPixels - 1) / kPixels, second = count - outputs;
    const int64_t from = x * shape_.stride_x - shape_.pad_left;
    if constexpr (kBytes && Dot::kMostVectors >= 4) {  // enough registers for three columns and their weights
      if (shape_.kernel_height == 3 && columns_.width == 3 && shape_.dilation_x == 1 &&
          shape_.stride_x <= 2) {
        const GroupOfTaps taps(*this, row, 0, from, second * shape_.stride_x);
        return shape_.stride_x == 1 ? RunThree<1>(taps, outputs, to, second)
                                    : RunThree<2>(taps, outputs, to, second);
      }
    }
    for (int64_t g = 0; g < columns_.groups; ++g) FillGroup(row, g, from, second * shape_.stride_x, outputs);
    int64_t o = 0;
    if (outputs >= kOutputs)
      for (; o < outputs; o += kOutputs) {
        o = std::min(o, outputs - kOutputs);  // the last ones overlap
        Multiply<kOutputs>(o, to, second);
      }
    for (; o < outputs; ++o) Multiply<1>(o, to, second);
  }

  // The taps from row 4 `group` of the kernel on, for a piece whose first column is `from`; the second pixel
  // of a vector is `second` columns behind the first one.
  class GroupOfTaps {
   public:
    GroupOfTaps(const PanelOfChannels& of, int64_t row, int64_t group, int64_t from, int64_t second)
        : width_(of.shape_.in_width),
          padding_(of.s_.padding),
          channels_(of.s_.columns),
          flip_(of.flip_),
          from_(from),
          second_(second),
          rows_{of.RowOf(row, group, 0), of.RowOf(row, group, 1), of.RowOf(row, group, 2),
                of.RowOf(row, group, 3)} {}

    // Returns the quads of a column. kRows: rows of taps that the kernel has; those of other rows are any.
    template <int kRows>
    HWY_INLINE void Load(int64_t column, VI32 (&quads)[kQuad]) const {
      const int64_t x = from_ + column;
      VBytes bytes[kQuad];
#pragma GCC unroll 4
      for (int t = 0; t < kRows; ++t) bytes[t] = hn::Xor(Tap(rows_[t], x), flip_);
#pragma GCC unroll 4
      for (int t = kRows; t < int{kQuad}; ++t) bytes[t] = hn::Zero(Bytes());
      Interleave(bytes, quads);
    }

   private:
    HWY_INLINE VBytes Tap(const RowOfTaps& row, int64_t x) const {
      if constexpr (kPixels == 1) return LoadBytes(Bytes(), At(row, x), channels_);
      const HalfBytes d;
      return hn::Combine(Bytes(), LoadBytes(d, At(row, x + second_), channels_),
                         LoadBytes(d, At(row, x), channels_));
    }
    HWY_INLINE const uint8_t* At(const RowOfTaps& row, int64_t x) const {
      const bool inside = static_cast<uint64_t>(x) < static_cast<uint64_t>(width_);
      return inside ? row.first + x * row.step : padding_;
    }

    const int64_t width_;
    const uint8_t* const padding_;
    const size_t channels_;
    const VBytes flip_;
    const int64_t from_, second_;
    const RowOfTaps rows_[kQuad];
  };

  RowOfTaps RowOf(int64_t row, int64_t group, int64_t tap) const {
    const int64_t ky = group * int64_t{kQuad} + tap;
    const int64_t y = row % shape_.out_height * shape_.stride_y - shape_.pad_top + ky * shape_.dilation_y;
    return RowOfTaps(s_, row / shape_.out_height, ky < shape_.kernel_height ? y : -1);
  }

  // Computes the outputs of a kernel of three columns and three rows, whose windows step by kStep
  // columns. The columns take turns, so that none moves from one register to another.
  template <int kStep>
  HWY_NOINLINE void RunThree(const GroupOfTaps& taps, int64_t outputs, int64_t to, int64_t second) const {
    VI32 a[kQuad], b[kQuad], c[kQuad];
    typename Dot::Weights w[3][kQuad];
#pragma GCC unroll 3
    for (size_t j = 0; j < 3; ++j) {
#pragma GCC unroll 4
      for (size_t i = 0; i < kQuad; ++i) w[j][i] = Dot::Load(s_.panel + j * kBlock + i * kVectorBytes);
    }
    const auto output = [&](int64_t o, const VI32(&x)[kQuad], const VI32(&y)[kQuad], const VI32(&z)[kQuad])
                            METE_IN_PLACE {
                              VI32 levels[kQuad];
#pragma GCC unroll 4
                              for (size_t i = 0; i < kQuad; ++i) {
                                typename Dot::Sums sum = Dot::Zero();
                                Dot::Add(Dot::Split(x[i]), w[0][i], sum);
                                Dot::Add(Dot::Split(y[i]), w[1][i], sum);
                                Dot::Add(Dot::Split(z[i]), w[2][i], sum);
                                levels[i] = LevelsOf(Dot::Total(sum), i);
                              }
                              Store(levels, to + o, second);
                            };
    taps.template Load<3>(0, a);
    if constexpr (kStep == 1) {
      taps.template Load<3>(1, b);
      for (int64_t o = 0; o < outputs; o += 3) {
        taps.template Load<3>(o + 2, c);
        output(o, a, b, c);
        if (o + 1 == outputs) return;
        taps.template Load<3>(o + 3, a);
        output(o + 1, b, c, a);
        if (o + 2 == outputs) return;
        taps.template Load<3>(o + 4, b);
        output(o + 2, c, a, b);
      }
    } else {
      for (int64_t o = 0; o < outputs; o += 2) {
        taps.template Load<3>(2 * o + 1, b);
        taps.template Load<3>(2 * o + 2, c);
        output(o, a, b, c);
        if (o + 1 == outputs) return;
        taps.template Load<3>(2 * o + 3, b);
        taps.template Load<3>(2 * o + 4, a);
        output(o + 1, c, b, a);
      }
    }
  }

  // Makes the quads of a group of taps, of all columns.
  HWY_NOINLINE void FillGroup(int64_t row, int64_t group, int64_t from, int64_t second,
                              int64_t outputs) const {
    const GroupOfTaps taps(*this, row, group, from, second);
    const bool one = shape_.kernel_height - group * int64_t{kQuad} == 1;  // as the last one of 5 rows
    uint8_t* to = s_.scratch + static_cast<size_t>(group) * kBlock;
    const size_t step = static_cast<size_t>(columns_.groups) * kBlock;
    const int64_t apart = columns_.shared ? 1 : shape_.stride_x, inner = columns_.shared ? 1 : columns_.width;
    const int64_t outer = columns_.shared ? columns_.Of(outputs) : outputs;
    for (int64_t i = 0; i < outer; ++i)
      for (int64_t j = 0; j < inner; ++j, to += step) {
        VI32 quads[kQuad];
        if (one) taps.template Load<1>(i * apart + j * shape_.dilation_x, quads);
        else taps.template Load<4>(i * apart + j * shape_.dilation_x, quads);
#pragma GCC unroll 4
        for (size_t v = 0; v < kQuad; ++v)
          hn::Store(hn::BitCast(Bytes(), quads[v]), Bytes(), to + v * kVectorBytes);
      }
  }

  // Computes kCount outputs from `o` on.
  template <int kCount>
  HWY_INLINE void Multiply(int64_t o, int64_t to, int64_t second) const {
    const size_t step = static_cast<size_t>(columns_.step * columns_.groups) * kBlock,
                 quads = static_cast<size_t>(columns_.width * columns_.groups);
    const uint8_t* first = s_.scratch + static_cast<size_t>(o) * step;
    VI32 levels[kCount][kQuad];
#pragma GCC unroll 4
    for (size_t j = 0; j < kQuad; ++j) {
      VI32 sums[kCount];
      Sum<kCount>(j, first + j * kVectorBytes, step, quads, sums);
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) levels[i][j] = sums[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) Store(levels[i], to + o + i, second);
  }

  // Sums vector j of the quads, and requantizes the sums if the output is bytes.
  template <int kCount>
  HWY_INLINE void Sum(size_t j, const uint8_t* inputs_at, size_t step, size_t quads,
                      VI32 (&results)[kCount]) const {
    typename Dot::Sums sums[kCount], inputs[kCount];
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) sums[i] = inputs[i] = Dot::Zero();
    const int8_t* w = s_.panel + j * kVectorBytes;
#pragma GCC unroll 2
    for (size_t q = 0; q < quads; ++q, w += kBlock, inputs_at += kBlock) {
      const typename Dot::Weights weights = Dot::Load(w);
      typename Dot::Weights ones;
      if constexpr (!kBytes) ones = Dot::Load(OnesOf(q));
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) {
        const auto quad = hn::Load(Bytes(), inputs_at + static_cast<size_t>(i) * step);
        const typename Dot::Inputs x = Dot::Split(hn::BitCast(I32(), quad));
        Dot::Add(x, weights, sums[i]);
        if constexpr (!kBytes) Dot::Add(x, ones, inputs[i]);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      if constexpr (kBytes) results[i] = LevelsOf(Dot::Total(sums[i]), j);
      else results[i] = ResultsOf(Dot::Total(sums[i]), Dot::Total(inputs[i]), j);
    }
  }

  // Returns the levels of sums of vector j.
  HWY_INLINE VI32 LevelsOf(VI32 sums, size_t j) const {
    return to_levels_(hn::Add(sums, hn::Load(I32(), bias_.at + j * kLanes)),
                      hn::Load(F32(), scale_.at + j * kLanes));
  }

  // The same for any epilogue; `inputs` are the sums of the inputs alone.
  HWY_INLINE VI32 ResultsOf(VI32 sums, VI32 inputs, size_t j) const {
    sums = hn::Add(sums, hn::Load(I32(), bias_.at + j * kLanes));
    if (s_.epilogue.weight_zeros)
      sums =
          hn::Add(sums, hn::Mul(hn::Load(I32(), zeros_.at + j * kLanes), hn::Sub(inputs, inputs_of_zeros_)));
    if (!s_.epilogue.scale) return sums;
    return to_levels_.Clamped(sums, hn::Load(F32(), scale_.at + j * kLanes));
  }

  // Returns weights of 1 for the taps of a quad that the kernel has.
  const int8_t* OnesOf(size_t quad) const {
    static constexpr auto kOnes = [] {
      std::array<std::array<int8_t, kVectorBytes>, kQuad + 1> ones{};
      for (size_t count = 0; count <= kQuad; ++count)
        for (size_t i = 0; i < kVectorBytes; ++i) ones[count][i] = i % kQuad < count;
      return ones;
    }();
    const int64_t rows = shape_.kernel_height - static_cast<int64_t>(quad) % columns_.groups * int64_t{kQuad};
    // std::min takes references, for which GCC stores both numbers.
    return kOnes[rows < int64_t{kQuad} ? static_cast<size_t>(rows) : kQuad].data();
  }

  // Stores an output of the piece, pixel `to` of the strip, and with two pixels in a vector the one that is
  // `second` pixels behind it.
  HWY_INLINE void Store(const VI32 (&sums)[kQuad], int64_t to, int64_t second) const {
    if constexpr (!kBytes)
      if (!s_.epilogue.scale) return StoreSums(sums, to, second);
    const VBytes bytes = to_bytes_(sums);
    uint8_t* out = static_cast<uint8_t*>(s_.out) + static_cast<size_t>(to) * s_.out_stride;
    if constexpr (kPixels == 1) return StoreBytes(bytes, Bytes(), out, s_.columns);
    const HalfBytes d;
    StoreBytes(hn::LowerHalf(d, bytes), d, out, s_.columns);
    StoreBytes(hn::UpperHalf(d, bytes), d, out + static_cast<size_t>(second) * s_.out_stride, s_.columns);
  }

  HWY_NOINLINE void StoreSums(const VI32 (&sums)[kQuad], int64_t to, int64_t second) const {
    HWY_ALIGN int32_t lanes[kVectorBytes];
    for (size_t j = 0; j < kQuad; ++j) hn::Store(sums[j], I32(), lanes + j * kLanes);
    constexpr size_t kPeriod = kVectorBytes / kPixels;
    for (size_t i = 0; i < kVectorBytes; ++i) {
      const size_t at = ChannelOfQuad(i / kLanes, i % kLanes), c = at % kPeriod;
      const size_t pixel = static_cast<size_t>(at < kPeriod ? to : to + second);
      if (c < s_.columns) static_cast<int32_t*>(s_.out)[pixel * s_.out_stride + c] = lanes[i];
    }
  }

  const ChannelStrip& s_;
  const ConvShape& shape_;
  const ChannelColumns columns_;
  const ByQuad<int32_t> bias_, zeros_;
  const ByQuad<float> scale_;
  const Requantize to_levels_;
  const Narrower to_bytes_;
  const VBytes flip_;
  VI32 inputs_of_zeros_;
};

// Anything but bytes with small scales is rare, so it has no fast code for few channels.
template <class Dot>
void RunChannels(const ChannelStrip& s) {
  const ByteEpilogue& e = s.epilogue;
  if (e.weight_zeros || !e.scale || !e.small_scales) return PanelOfChannels<Dot, false, 1>(s).Run();
  if (s.columns <= kHalfBytes) return PanelOfChannels<Dot, true, 2>(s).Run();
  PanelOfChannels<Dot, true, 1>(s).Run();
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
