// The micro-kernel over halves: MR rows x V vectors of sums of f32. See half_tile.h.
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

// Stores the first `count` pairs.
HWY_INLINE void StorePairs(VU32 pairs, size_t count, uint16_t* p) {
  HWY_ALIGN uint32_t lanes[kLanes];
  hn::Store(pairs, U32(), lanes);
  std::memcpy(p, lanes, count * sizeof(uint32_t));
}

// Whether the step is an instruction that multiplies blocks of octets (tile/octets-inl.h).
template <class Dot>
constexpr bool kByOctets = Dot::kElements == 4;

// Adds the products of `steps` steps. `a` points at the inputs of each row; `w` moves behind their weights.
template <class Dot, int MR, int V>
HWY_INLINE void AddSteps(const typename Dot::Input* const (&a)[MR], size_t steps, const uint16_t*& w,
                         V32 (&sums)[MR][V]) {
  constexpr size_t kElements = Dot::kElements;
  for (size_t k = 0; k < kElements * steps; k += kElements, w += kElements * V * kLanes) {
    typename Dot::Elements weights[V];
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) weights[j] = Dot::Weights(w + j * kElements * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const typename Dot::Elements x = Dot::Inputs(a[i] + k);
#pragma GCC unroll 4
      for (int j = 0; j < V; ++j) Dot::Add(x, weights[j], sums[i][j]);
    }
  }
}

// Adds the products of the rows from `row` on, step by step.
template <class Dot, int MR, int V>
HWY_INLINE void AddTaps(const HalfStrip<typename Dot::Input>& s, size_t row, V32 (&sums)[MR][V]) {
  constexpr size_t kElements = Dot::kElements;
  const uint16_t* w = s.panel;
  for (size_t tap = 0; tap < s.taps; ++tap) {
    const typename Dot::Input* a[MR];
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) a[i] = s.rows[tap * s.tap_stride + row + i] + s.offset;
    AddSteps<Dot, MR, V>(a, s.k / kElements, w, sums);
    if (s.k % kElements == 0) continue;
    // A copy of the last element of an odd number, as a pair would end behind the input.
    typename Dot::Input ends[MR][kElements];
    for (int i = 0; i < MR; ++i) {
      ends[i][0] = a[i][s.k - 1];
      ends[i][kElements - 1] = 0;
      a[i] = ends[i];
    }
    AddSteps<Dot, MR, V>(a, 1, w, sums);
  }
}

// Runs the tile of MR rows from `row` on.
template <class Dot, int MR, int V>
HWY_NOINLINE void RunHalfTile(const HalfStrip<typename Dot::Input>& s, size_t row) {
  const size_t last = s.columns - (V - 1) * kLanes;
  V32 sums[MR][V];
  if constexpr (kByOctets<Dot>) {
#if HWY_TARGET == HWY_NEON
    V32 products[MR][V];
    SumByOctets<Dot>(s, row, products);
    StartSums<MR, V>(s, last, sums);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < V; ++j) sums[i][j] = hn::Add(sums[i][j], products[i][j]);
    }
#endif
  } else {
    StartSums<MR, V>(s, last, sums);
    AddTaps<Dot, MR, V>(s, row, sums);
  }
  constexpr bool kWhole = true;  // the sums are of all inputs
  EndTile<MR, V>(sums, s, row, last, kWhole);
}

template <class Input>
using HalfTileFunction = void (*)(const HalfStrip<Input>&, size_t row);
template <class Dot, int V, int... I>
constexpr std::array<HalfTileFunction<typename Dot::Input>, sizeof...(I)> HalfTilesOf(
    std::integer_sequence<int, I...>) {
  return {RunHalfTile<Dot, I + 1, V>...};
}

template <class Dot, int V>
inline void RunHalfTiles(const HalfStrip<typename Dot::Input>& strip) {
  constexpr int kMost = Dot::kMostRows[V];
  static constexpr auto kTiles = HalfTilesOf<Dot, V>(std::make_integer_sequence<int, kMost>());
  const PiecesOfRows tiles(strip.row_count, kMost, kByOctets<Dot> ? kRowsOfBlock : 1);
  for (int64_t t = 0; t < tiles.count(); ++t) {
    const Range rows = tiles[t];
    kTiles[static_cast<size_t>(rows.size() - 1)](strip, static_cast<size_t>(rows.begin));
  }
}

template <class Dot>
void RunHalfPanel(const HalfStrip<typename Dot::Input>& strip) {
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
