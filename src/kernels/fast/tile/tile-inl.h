// The micro-kernel of the register tile: MR rows x V vectors of sums. It broadcasts inputs directly from
// memory and reads weights from a packed panel. See tile.h.
#if defined(METE_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_TILE_INL_H
#undef METE_TILE_INL_H
#else
#define METE_TILE_INL_H
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/fast/tile/quads-inl.h"
#include "kernels/fast/tile/tile.h"
#include "kernels/fast/tile/tile_end-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// The sums, the weights and one input must fit the register file, which has 32 registers with AVX-512 and
// NEON, and 16 with older instruction sets. Wide tiles are better than tall ones, because the load of an
// input feeds V multiply-adds. Measured GFLOP/s with AVX-512 and weights in the first-level cache, of a peak
// of 217: 8 rows x 2 vectors 163, 12 x 2 175, 14 x 2 169, 6 x 4 197, 5 x 4 196.
#if HWY_TARGET == HWY_NEON
constexpr int kMostVectors = 4;
constexpr int kMostRows[] = {0, 8, 8, 7, 5};
#elif HWY_TARGET == HWY_AVX3
constexpr int kMostVectors = 4;
constexpr int kMostRows[] = {0, 8, 8, 8, 6};  // by vectors; at most 8 row pointers fit general registers
#else
constexpr int kMostVectors = 2;
constexpr int kMostRows[] = {0, 8, 6};
#endif
constexpr int kTileRows = kMostRows[kMostVectors];
// By LLVM's models (`make arm-loops`), a Cortex-A53 computes 0.67 multiply-adds a cycle with tiles of 8 x 2
// vectors and 0.63 with 5 x 4, and a Cortex-A55 1.21 with both. Cores of x86 are out-of-order.
constexpr bool kHalvesInOrder = HWY_TARGET == HWY_NEON;

constexpr size_t kLine = 64 / sizeof(float);  // elements of a cache line

// The tile only prefetches its outputs if its sums have at least this length; shorter sums end before the
// prefetched lines arrive. Measured: sums of length 64 are faster with prefetches, and sums of length 48 lose
// up to 6 %.
constexpr size_t kLeastAhead = 64;

// Prefetches the outputs of a row of the tile, and the residual that the tile will add to them.
template <int V>
HWY_INLINE void FetchEnd(const Strip& s, size_t row) {
  const float* out = s.out + row * s.out_stride;
#pragma GCC unroll 4
  for (size_t c = 0; c < V * kLanes; c += kLine) __builtin_prefetch(out + c, 1, 3);
  if (!s.residual || !s.last) return;
  const float* residual = s.residual + row * s.residual_stride;
#pragma GCC unroll 4
  for (size_t c = 0; c < V * kLanes; c += kLine) __builtin_prefetch(residual + c, 0, 3);
}

// The elements of K that the inner loop takes together.
constexpr size_t kElementsTogether = HWY_TARGET == HWY_NEON ? 4 : 1;

#if HWY_TARGET == HWY_NEON
template <int kLane>
HWY_INLINE void AddLane(float32x4_t& sum, float32x4_t weights, float32x4_t inputs) {
  asm volatile("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(sum) : "w"(weights), "w"(inputs), "i"(kLane));
}

// The elements of K whose weights are loaded together: two if the registers suffice. In the model of the
// Cortex-A53, each change from multiply-adds to loads takes six cycles.
template <int MR, int V>
constexpr int kElementsAtOnce = MR* V + MR + 2 * V < 32 ? 2 : 1;

// Adds the products of the four elements from k on.
template <int MR, int V>
HWY_INLINE void MultiplyQuad(const float* const (&a)[MR], size_t k, const float* w, size_t width,
                             float32x4_t (&sums)[MR][V]) {
  constexpr int kAtOnce = kElementsAtOnce<MR, V>;
  float32x4_t inputs[MR], weights[kAtOnce][V];
  ForEach<kQuadOfElements / kAtOnce>([&](auto part) METE_IN_PLACE {
    constexpr int kFirst = part * kAtOnce;
    ForEach<kAtOnce>([&](auto l) METE_IN_PLACE {
      ForEach<V>([&](auto j)
                     METE_IN_PLACE { LoadInOrder(weights[l][j], w + (kFirst + l) * width + j * kLanes); });
      if constexpr (kFirst + l == 0)
        ForEach<MR>([&](auto i) METE_IN_PLACE { LoadInOrder(inputs[i], a[i] + k); });
    });
    ForEach<kAtOnce>([&](auto l) METE_IN_PLACE {
      ForEach<V>([&](auto j) METE_IN_PLACE {
        ForEach<MR>([&](auto i) METE_IN_PLACE { AddLane<kFirst + l>(sums[i][j], weights[l][j], inputs[i]); });
      });
    });
  });
}

// Adds the products of the elements [k, end) to the sums, but of the last ones that are no quad. Moves `k`,
// the place of the weights, and that of what is prefetched, behind them.
template <int MR, int V>
HWY_INLINE void MultiplyQuads(const float* const (&a)[MR], size_t& k, size_t end, const float*& w,
                              size_t width, const float*& ahead, size_t ahead_step, V32 (&totals)[MR][V]) {
  float32x4_t sums[MR][V];
  ForEach<MR>([&](auto i) METE_IN_PLACE {
    ForEach<V>([&](auto j) METE_IN_PLACE { sums[i][j] = totals[i][j].raw; });
  });
  for (; k + kQuadOfElements <= end; k += kQuadOfElements) {
    // A share of four elements is a cache line at most (RunTiles()).
    __builtin_prefetch(ahead, 0, 2);
    MultiplyQuad(a, k, w, width, sums);
    w += kQuadOfElements * width;
    ahead += kQuadOfElements * ahead_step;
  }
  ForEach<MR>([&](auto i) METE_IN_PLACE {
    ForEach<V>([&](auto j) METE_IN_PLACE { totals[i][j] = V32(sums[i][j]); });
  });
}
#endif

// Returns whether all of MR rows are the padding.
template <int MR>
HWY_INLINE bool AllPadding(const float* const* rows, const float* padding) {
  bool all = true;
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) all &= rows[i] == padding;
  return all;
}

// Runs the tile of MR rows from `row` on. kWhole means that the strip is a whole panel, so that its weights
// are contiguous.
template <int MR, int V, bool kWhole>
HWY_NOINLINE void RunTile(const Strip& s, size_t row, const float* ahead, size_t ahead_step) {
  const F32 d;
  const size_t width = kWhole ? V * kLanes : s.width;
  const size_t last = s.columns - (V - 1) * kLanes;
  V32 sums[MR][V];
  if (!s.first) {
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) LoadRow<V>(s.out + (row + i) * s.out_stride, last, sums[i]);
  } else {
    StartSums<MR, V>(s, last, sums);
  }

  const float* w = s.panel;
  for (size_t tap = 0; tap < s.taps; ++tap) {
    if (s.padding && AllPadding<MR>(s.rows + tap * s.tap_stride + row, s.padding)) {
      w += s.k * width;
      ahead += s.k * ahead_step;
      continue;
    }
    const float* a[MR];
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) a[i] = s.rows[tap * s.tap_stride + row + i] + s.offset;
    const auto step = [&](size_t k) HWY_ATTR {
      __builtin_prefetch(ahead, 0, 2);  // into the second-level cache
      V32 weights[V];
#pragma GCC unroll 4
      for (int j = 0; j < V; ++j) weights[j] = hn::LoadU(d, w + j * kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < MR; ++i) {
        const V32 x = hn::Set(d, a[i][k]);
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) sums[i][j] = hn::MulAdd(x, weights[j], sums[i][j]);
      }
      w += width;
      ahead += ahead_step;
    };
    size_t k = 0;
    const auto run = [&](size_t end) METE_IN_PLACE HWY_ATTR {
#if HWY_TARGET == HWY_NEON
      MultiplyQuads<MR, V>(a, k, end, w, width, ahead, ahead_step, sums);
#endif
      for (; k < end; ++k) step(k);
    };
    // Prefetch the outputs while the last part of the sums is computed: early enough for the lines to arrive,
    // and late enough that the weights do not evict them. Measured with AVX-512 on products of 1x1
    // convolutions, this saves 3 to 15 % of their time, and 10 to 20 % with a residual.
    if (tap + 1 == s.taps && s.k >= kLeastAhead) {
      // Steps between the prefetches of two rows. This value is a guess: 16 steps take some 200 cycles, about
      // the time of a line from the third-level cache.
      constexpr size_t kSteps = 16;
      const size_t each = std::min<size_t>(kSteps, s.k / MR / kElementsTogether * kElementsTogether);
      run(s.k - MR * each);
      for (int i = 0; i < MR; ++i) {
        FetchEnd<V>(s, row + static_cast<size_t>(i));
        run(k + each);
      }
    }
    run(s.k);
  }

  EndTile<MR, V>(sums, s, row, last, s.last);
}

// The functions of tiles of V vectors, indexed by their number of rows minus one.
using TileFunction = void (*)(const Strip&, size_t row, const float* ahead, size_t ahead_step);
template <int V, bool kWhole, int... I>
constexpr std::array<TileFunction, sizeof...(I)> TilesOf(std::integer_sequence<int, I...>) {
  return {RunTile<I + 1, V, kWhole>...};
}

template <int V, bool kWhole>
inline void RunTiles(const Strip& strip) {
  static constexpr auto kTiles = TilesOf<V, kWhole>(std::make_integer_sequence<int, kMostRows[V]>());
  const int64_t most = strip.tile.rows > 0 ? std::min<int64_t>(strip.tile.rows, kMostRows[V]) : kMostRows[V];
  const EvenPieces tiles(static_cast<int64_t>(strip.row_count), most);
  // While the tiles read this chunk of the weights, they prefetch the next one into the second-level cache.
  // Each tile prefetches its share, so that the load on the memory is even. If there are fewer tiles than
  // vectors, they only prefetch a part of the chunk; if there are more tiles than elements of a row, they
  // prefetch somewhat more than the chunk.
  const size_t steps = strip.taps * strip.k;
  const size_t share =
      std::max<size_t>(1, V * kLanes / static_cast<size_t>(std::max<int64_t>(tiles.count(), V)));
  const float* ahead = strip.next;
  for (int64_t t = 0; t < tiles.count(); ++t, ahead += steps * share) {
    const Range rows = tiles[t];
    kTiles[static_cast<size_t>(rows.size() - 1)](strip, static_cast<size_t>(rows.begin), ahead, share);
  }
}

inline void RunWholePanel(const Strip& strip) {
  const size_t vectors = strip.width / kLanes;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  if (vectors == 4) return RunTiles<4, true>(strip);
  if (vectors == 3) return RunTiles<3, true>(strip);
#endif
  if (vectors == 2) return RunTiles<2, true>(strip);
  RunTiles<1, true>(strip);
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
// Runs a panel of four vectors in two strips of two vectors each.
inline HWY_NOINLINE void RunHalves(const Strip& panel) {
  constexpr size_t kHalf = 2 * kLanes;
  for (size_t first = 0; first < 2 * kHalf; first += kHalf) {
    Strip s = panel;
    s.panel += first;
    s.out += first;
    s.next += first * s.taps * s.k;  // each half prefetches its share
    s.columns = std::min(kHalf, panel.columns - first);
    if (s.bias) s.bias += first;
    if (s.residual) s.residual += first;
    RunTiles<2, false>(s);
  }
}
#endif

inline void RunPanel(const Strip& panel) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  if (panel.tile.half && panel.width == 4 * kLanes) return RunHalves(panel);
#endif
  RunWholePanel(panel);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
