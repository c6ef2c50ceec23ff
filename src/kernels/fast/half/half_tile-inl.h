// The micro-kernel over bf16: MR rows x V vectors of sums of f32. See half_tile.h.
#if defined(METE_HALF_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_HALF_TILE_INL_H
#undef METE_HALF_TILE_INL_H
#else
#define METE_HALF_TILE_INL_H
#endif

#include <array>
#include <cstring>
#include <utility>

#include "kernels/fast/half/half_dot-inl.h"
#include "kernels/fast/half/half_tile.h"
#include "kernels/fast/tile/tile_end-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

constexpr size_t kPair = 2;

// Loads a vector of pairs of weights.
HWY_INLINE VU32 LoadPairs(const uint16_t* p) {
#if HWY_TARGET == HWY_SCALAR
  uint32_t pair;
  std::memcpy(&pair, p, sizeof(pair));
  return hn::Set(U32(), pair);
#else
  return hn::BitCast(U32(), hn::LoadU(hn::Repartition<uint16_t, U32>(), p));
#endif
}

// Stores the first `count` pairs.
HWY_INLINE void StorePairs(VU32 pairs, size_t count, uint16_t* p) {
  HWY_ALIGN uint32_t lanes[kLanes];
  hn::Store(pairs, U32(), lanes);
  std::memcpy(p, lanes, count * sizeof(uint32_t));
}

// Adds the products of `pairs` pairs. `a` points at the pairs of each row; `w` moves behind their weights.
template <class Dot, int MR, int V>
HWY_INLINE void AddPairs(const uint16_t* const (&a)[MR], size_t pairs, const uint16_t*& w,
                         V32 (&sums)[MR][V]) {
  const U32 d;
  for (size_t k = 0; k < kPair * pairs; k += kPair, w += kPair * V * kLanes) {
    typename Dot::Pair weights[V];
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) weights[j] = Dot::Split(LoadPairs(w + j * kPair * kLanes));
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      uint32_t pair;
      std::memcpy(&pair, a[i] + k, sizeof(pair));
      const typename Dot::Pair x = Dot::Split(hn::Set(d, pair));
#pragma GCC unroll 4
      for (int j = 0; j < V; ++j) Dot::Add(x, weights[j], sums[i][j]);
    }
  }
}

// Runs the tile of MR rows from `row` on.
template <class Dot, int MR, int V>
HWY_NOINLINE void RunHalfTile(const HalfStrip& s, size_t row) {
  const size_t last = s.columns - (V - 1) * kLanes;
  V32 sums[MR][V];
  StartSums<MR, V>(s, last, sums);
  const uint16_t* w = s.panel;
  for (size_t tap = 0; tap < s.taps; ++tap) {
    const uint16_t* a[MR];
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) a[i] = s.rows[tap * s.tap_stride + row + i] + s.offset;
    AddPairs<Dot, MR, V>(a, s.k / kPair, w, sums);
    if (s.k % kPair == 0) continue;
    // A copy of the last element of an odd number, as a pair would end behind the input.
    uint16_t ends[MR][kPair];
    for (int i = 0; i < MR; ++i) {
      ends[i][0] = a[i][s.k - 1];
      ends[i][1] = 0;
      a[i] = ends[i];
    }
    AddPairs<Dot, MR, V>(a, 1, w, sums);
  }
  EndTile<MR, V>(sums, s, row, last, true);
}

using HalfTileFunction = void (*)(const HalfStrip&, size_t row);
template <class Dot, int V, int... I>
constexpr std::array<HalfTileFunction, sizeof...(I)> HalfTilesOf(std::integer_sequence<int, I...>) {
  return {RunHalfTile<Dot, I + 1, V>...};
}

template <class Dot, int V>
inline void RunHalfTiles(const HalfStrip& strip) {
  constexpr int kMost = Dot::kMostRows[V];
  static constexpr auto kTiles = HalfTilesOf<Dot, V>(std::make_integer_sequence<int, kMost>());
  const EvenPieces tiles(static_cast<int64_t>(strip.row_count), kMost);
  for (int64_t t = 0; t < tiles.count(); ++t) {
    const Range rows = tiles[t];
    kTiles[static_cast<size_t>(rows.size() - 1)](strip, static_cast<size_t>(rows.begin));
  }
}

template <class Dot>
void RunHalfPanel(const HalfStrip& strip) {
  const size_t vectors = strip.width / kLanes;
  if constexpr (Dot::kMostVectors >= 4) {
    if (vectors == 4) return RunHalfTiles<Dot, 4>(strip);
    if (vectors == 3) return RunHalfTiles<Dot, 3>(strip);
  }
  if (vectors == 2) return RunHalfTiles<Dot, 2>(strip);
  RunHalfTiles<Dot, 1>(strip);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
