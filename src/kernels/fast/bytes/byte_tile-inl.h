// The micro-kernel over bytes: MR rows x V vectors of 32-bit sums, which leave the registers as bytes. See
// byte_tile.h.
#if defined(METE_BYTE_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_BYTE_TILE_INL_H
#undef METE_BYTE_TILE_INL_H
#else
#define METE_BYTE_TILE_INL_H
#endif

#include <array>
#include <cstring>
#include <utility>

#include "kernels/fast/bytes/byte_tile.h"
#include "kernels/fast/bytes/dot-inl.h"
#include "kernels/fast/bytes/levels-inl.h"
#include "kernels/fast/tile/tile.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

constexpr size_t kQuad = 4;

// Stores the first `count` of the bytes.
template <class D, class V>
HWY_INLINE void StoreBytes(V v, D d, uint8_t* p, size_t count) {
#if HWY_TARGET == HWY_AVX3
  if (count >= hn::Lanes(d)) return hn::StoreU(v, d, p);
  hn::BlendedStore(v, hn::FirstN(d, count), d, p);
#else
  if (HWY_LIKELY(count >= hn::Lanes(d))) return hn::StoreU(v, d, p);
  HWY_ALIGN uint8_t lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  CopyFewer<hn::MaxLanes(d) / 2>(lanes, p, count);
#endif
}

// Rounds sums to steps from the zero point, round(sum * scale), and to bytes.
class Requantize {
 public:
  explicit Requantize(const ByteEpilogue& e)
      : least_(hn::Set(F32(), e.least)),
        most_(hn::Set(F32(), e.most)),
        // Signed bytes are those that are 128 larger, with the top bit flipped.
        zero_(hn::Set(I32(), e.zero + (e.is_signed ? 128 : 0))),
        flip_(hn::Set(U8(), e.is_signed ? 0x80 : 0)) {}

  // Requires a scale below 1, or a sum that cannot overflow with it.
  HWY_INLINE VI32 operator()(VI32 sum, V32 scale) const {
    return RoundWhole(hn::Mul(hn::ConvertTo(F32(), sum), scale));
  }

  // For any scale: steps beyond the levels become those of the last level.
  HWY_INLINE VI32 Clamped(VI32 sum, V32 scale) const {
    const V32 scaled = hn::Mul(hn::ConvertTo(F32(), sum), scale);
    return RoundWhole(hn::Min(hn::Max(scaled, least_), most_));
  }

  using U8 = hn::Rebind<uint8_t, I32>;
  HWY_INLINE hn::Vec<U8> Bytes(VI32 sum, V32 scale) const {
    return hn::Xor(hn::DemoteTo(U8(), hn::Add(Clamped(sum, scale), zero_)), flip_);
  }

 private:
  V32 least_, most_;
  VI32 zero_;
  hn::Vec<U8> flip_;
};

#if HWY_TARGET != HWY_SCALAR
inline Narrower NarrowerOf(const ByteEpilogue& e) {
  return {e.zero, static_cast<int32_t>(e.least) + e.zero, static_cast<int32_t>(e.most) + e.zero, e.is_signed};
}
#endif

// Adds the bias and stores the bytes. Several vectors are narrowed together, which requires small scales.
template <int MR, int V>
HWY_INLINE void StoreLevels(const VI32 (&sums)[MR][V], const ByteStrip& s, size_t row) {
  const Requantize to_levels(s.epilogue);
  V32 scale[V];
  VI32 bias[V];
#pragma GCC unroll 4
  for (int j = 0; j < V; ++j) {
    scale[j] = hn::LoadU(F32(), s.epilogue.scale + j * kLanes);
    bias[j] = hn::LoadU(I32(), s.epilogue.bias + j * kLanes);
  }
  uint8_t* out = static_cast<uint8_t*>(s.out) + row * s.out_stride;
  if constexpr (V == 1) {
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i, out += s.out_stride)
      StoreBytes(to_levels.Bytes(hn::Add(sums[i][0], bias[0]), scale[0]), Requantize::U8(), out, s.columns);
  } else {
#if HWY_TARGET != HWY_SCALAR  // whose tiles have one vector
    const Narrower to_bytes = NarrowerOf(s.epilogue);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i, out += s.out_stride) {
      VI32 levels[kByteVectors];
#pragma GCC unroll 4
      for (int j = 0; j < V; ++j) levels[j] = to_levels(hn::Add(sums[i][j], bias[j]), scale[j]);
#pragma GCC unroll 4
      for (int j = V; j < int{kByteVectors}; ++j) levels[j] = levels[j - V];  // not stored
      StoreBytes(to_bytes.InOrder(levels), Bytes(), out, s.columns);
    }
#endif
  }
}

// Does the same for sums in memory, `rows` rows of `vectors` vectors, and for all other epilogues: large
// scales, and sums as the output. This code is small rather than fast.
inline HWY_NOINLINE void FinishInMemory(const int32_t* sums, const ByteStrip& s, size_t row, size_t rows,
                                        size_t vectors) {
  const I32 d;
  const Requantize to_bytes(s.epilogue);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < vectors; ++j) {
      const size_t column = j * kLanes, at = (row + i) * s.out_stride + column;
      const size_t count = std::min(s.columns - column, kLanes);
      VI32 sum =
          hn::Add(hn::Load(d, sums + (i * vectors + j) * kLanes), hn::LoadU(d, s.epilogue.bias + column));
      if (s.epilogue.scale) {
        const V32 scale = hn::LoadU(F32(), s.epilogue.scale + column);
        StoreBytes(to_bytes.Bytes(sum, scale), Requantize::U8(), static_cast<uint8_t*>(s.out) + at, count);
        continue;
      }
      HWY_ALIGN int32_t lanes[kLanes];
      hn::Store(sum, d, lanes);
      std::memcpy(static_cast<int32_t*>(s.out) + at, lanes, count * sizeof(int32_t));
    }
}

// Sums the products of the rows from `row` on, a quad of bytes at a time.
template <class Dot, int MR, int V>
HWY_INLINE void SumByQuads(const ByteStrip& s, size_t row, VI32 (&totals)[MR][V]) {
  typename Dot::Sums sums[MR][V];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) sums[i][j] = Dot::Zero();
  }
  const size_t whole = s.k / kQuad * kQuad, rest = s.k % kQuad;
  const size_t step = kQuad * V * kLanes;
  const VI32 flip = hn::Set(I32(), static_cast<int32_t>(s.flip));
  const int8_t* w = s.panel;
  uint8_t ends[MR][kQuad] = {};
  for (size_t tap = 0; tap < s.taps; ++tap) {
    const uint8_t* a[MR];
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) a[i] = s.rows[tap * s.tap_stride + row + i] + s.offset;
    // The last part has the bytes of a tap that fill no quad. They are at the end of the tap's last four
    // bytes (LastQuadOverlaps), or of fewer bytes there are copies, as a quad may end behind the input.
    const int parts = rest > 0 ? 2 : 1;
    for (int part = 0; part < parts; ++part) {
      size_t k = 0, end = whole;
      if (part == 1) {
        end = kQuad;
#pragma GCC unroll 16
        for (int i = 0; i < MR; ++i) {
          if (whole > 0) a[i] += s.k - kQuad;
          else a[i] = static_cast<const uint8_t*>(std::memcpy(ends[i], a[i], rest));
        }
      }
#if HWY_TARGET == HWY_NEON
      AddByteQuads<Dot>(a, k, end, w, flip, sums);
#endif
      for (; k < end; k += kQuad, w += step) {
        typename Dot::Weights weights[V];
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) weights[j] = Dot::Load(w + j * kQuad * kLanes);
#pragma GCC unroll 16
        for (int i = 0; i < MR; ++i) {
          int32_t quad;
          std::memcpy(&quad, a[i] + k, kQuad);
          const typename Dot::Inputs x = Dot::Split(hn::Xor(hn::Set(I32(), quad), flip));
#pragma GCC unroll 4
          for (int j = 0; j < V; ++j) Dot::Add(x, weights[j], sums[i][j]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) totals[i][j] = Dot::Total(sums[i][j]);
  }
}

// Adds what the weights' zero points make of the inputs of each row.
template <int MR, int V>
HWY_INLINE void AddWeightZeros(const ByteStrip& s, size_t row, VI32 (&sums)[MR][V]) {
  VI32 zeros[V];
#pragma GCC unroll 4
  for (int j = 0; j < V; ++j) zeros[j] = hn::LoadU(I32(), s.epilogue.weight_zeros + j * kLanes);
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
    const VI32 inputs = hn::Set(I32(), s.row_sums[row + static_cast<size_t>(i)]);
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) sums[i][j] = hn::Add(sums[i][j], hn::Mul(zeros[j], inputs));
  }
}

// Runs the tile of MR rows from `row` on.
template <class Dot, int MR, int V>
HWY_NOINLINE void RunByteTile(const ByteStrip& s, size_t row) {
  VI32 totals[MR][V];
  if constexpr (Dot::kCell == kQuad) {
    SumByQuads<Dot>(s, row, totals);
  } else {
#if HWY_TARGET == HWY_NEON
    SumByOctets<Dot>(s, row, totals);
#endif
  }
  if (s.epilogue.weight_zeros) AddWeightZeros(s, row, totals);
  if (s.epilogue.scale && (V == 1 || s.epilogue.small_scales)) return StoreLevels<MR, V>(totals, s, row);
  HWY_ALIGN int32_t memory[MR * V * kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) hn::Store(totals[i][j], I32(), memory + (i * V + j) * kLanes);
  }
  FinishInMemory(memory, s, row, MR, V);
}

// Sums the inputs of each row of a strip minus their zero point, both as the kernel sees them.
inline void SumRows(const ByteStrip& s, bool sees_signed, int32_t* sums) {
  // Signed bytes are unsigned ones, with the top bit flipped, minus 128.
  const auto flip = static_cast<uint8_t>(s.flip ^ (sees_signed ? 0x80 : 0));
  const int32_t start = -(s.input_zero + (sees_signed ? 128 : 0)) * static_cast<int32_t>(s.taps * s.k);
  for (size_t row = 0; row < s.row_count; ++row) {
    int32_t sum = start;
    for (size_t tap = 0; tap < s.taps; ++tap) {
      const uint8_t* from = s.rows[tap * s.tap_stride + row] + s.offset;
      size_t k = 0;
#if HWY_TARGET != HWY_SCALAR
      const hn::Repartition<uint8_t, I32> d8;
      const hn::Repartition<uint64_t, I32> d64;
      auto eights = hn::Zero(d64);
      for (; k + hn::Lanes(d8) <= s.k; k += hn::Lanes(d8))
        eights = hn::Add(eights, hn::SumsOf8(hn::Xor(hn::LoadU(d8, from + k), hn::Set(d8, flip))));
      sum += static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(d64, eights)));
#endif
      for (; k < s.k; ++k) sum += from[k] ^ flip;
    }
    sums[row] = sum;
  }
}

using ByteTileFunction = void (*)(const ByteStrip&, size_t row);
template <class Dot, int V, int... I>
constexpr std::array<ByteTileFunction, sizeof...(I)> ByteTilesOf(std::integer_sequence<int, I...>) {
  return {RunByteTile<Dot, I + 1, V>...};
}

template <class Dot, int V>
inline void RunByteTiles(const ByteStrip& strip) {
  constexpr int kMost = Dot::kMostRows[V];
  static constexpr auto kTiles = ByteTilesOf<Dot, V>(std::make_integer_sequence<int, kMost>());
  const PiecesOfRows tiles(strip.row_count, kMost, Dot::kCell == kQuad ? 1 : kRowsOfBlock);
  for (int64_t t = 0; t < tiles.count(); ++t) {
    const Range rows = tiles[t];
    kTiles[static_cast<size_t>(rows.size() - 1)](strip, static_cast<size_t>(rows.begin));
  }
}

template <class Dot>
void RunBytePanel(const ByteStrip& strip) {
  const size_t vectors = strip.width / kLanes;
  if constexpr (Dot::kMostVectors >= 4) {
    if (vectors == 4) return RunByteTiles<Dot, 4>(strip);
    if (vectors == 3) return RunByteTiles<Dot, 3>(strip);
  }
  if constexpr (Dot::kMostVectors >= 2) {
    if (vectors == 2) return RunByteTiles<Dot, 2>(strip);
  }
  RunByteTiles<Dot, 1>(strip);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
