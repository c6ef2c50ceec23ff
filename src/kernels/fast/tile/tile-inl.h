// The register tile: MR rows x 2 vectors of sums, inputs broadcast straight from memory, weights from a
// packed panel. See tile.h.
#if defined(METE_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_TILE_INL_H
#undef METE_TILE_INL_H
#else
#define METE_TILE_INL_H
#endif

#include "kernels/fast/activation-inl.h"
#include "kernels/fast/tile/tile.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

constexpr int kPanelWidth = 2 * static_cast<int>(kLanes);

// Sums in registers + 2 weights + 1 input must fit the register file: 32 registers with AVX-512 and NEON, 16
// before. With 32, eight rows keep the row pointers in general registers, and 16 chains already cover
// latency 4 x 2 units.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kTileRows = 8;
#else
constexpr int kTileRows = 6;
#endif

// Columns end before the panel does, or the activation is not a clamp: row by row, from the sums that were
// just stored. `sums` may be the output itself.
inline void FinishRow(const float* sums, const Strip& s, size_t row) {
  const F32 d;
  const Epilogue& e = *s.epilogue;
  float* out = s.out + row * s.out_stride;
  if (s.residual != nullptr) {
    const float* residual = s.residual + row * s.residual_stride;
    for (size_t c = 0; c < s.columns; c += kLanes) {
      const size_t left = s.columns - c;
      StoreN(hn::Add(LoadN(d, sums + c, left), LoadN(d, residual + c, left)), d, out + c, left);
    }
    sums = out;
  }
  ActivateRow(e.activation, sums, s.columns, out);
}

template <int MR>
HWY_INLINE void StoreClamped(const V32 (&low)[MR], const V32 (&high)[MR], const Strip& s, size_t row) {
  const F32 d;
  const ClampBounds bounds = BoundsOf(*s.epilogue);
  const V32 floor = Num(bounds.low), ceiling = Num(bounds.high);
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
    float* out = s.out + (row + i) * s.out_stride;
    V32 v0 = low[i], v1 = high[i];
    if (s.residual != nullptr) {
      const float* residual = s.residual + (row + i) * s.residual_stride;
      v0 = hn::Add(v0, hn::LoadU(d, residual));
      v1 = hn::Add(v1, hn::LoadU(d, residual + kLanes));
    }
    hn::StoreU(Clamp(v0, floor, ceiling), d, out);
    hn::StoreU(Clamp(v1, floor, ceiling), d, out + kLanes);
  }
}

template <int MR>
HWY_NOINLINE void RunTile(const Strip& s, size_t row) {
  const F32 d;
  const size_t second = s.columns > kLanes ? s.columns - kLanes : 0;
  V32 low[MR], high[MR];
  if (s.first) {
    const V32 b0 = s.bias ? LoadN(d, s.bias, s.columns) : hn::Zero(d);
    const V32 b1 = s.bias && second ? LoadN(d, s.bias + kLanes, second) : hn::Zero(d);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) low[i] = b0, high[i] = b1;
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float* sums = s.out + (row + i) * s.out_stride;
      low[i] = LoadN(d, sums, s.columns);
      high[i] = second ? LoadN(d, sums + kLanes, second) : hn::Zero(d);
    }
  }

  const float* w = s.panel;
  for (size_t tap = 0; tap < s.taps; ++tap) {
    const float* a[MR];
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) a[i] = s.rows[tap * s.tap_stride + row + i] + s.offset;
    for (size_t k = 0; k < s.k; ++k, w += kPanelWidth) {
      const V32 w0 = hn::LoadU(d, w), w1 = hn::LoadU(d, w + kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < MR; ++i) {
        const V32 x = hn::Set(d, a[i][k]);
        low[i] = hn::MulAdd(x, w0, low[i]);
        high[i] = hn::MulAdd(x, w1, high[i]);
      }
    }
  }

  const bool whole = s.columns == static_cast<size_t>(kPanelWidth);
  if (s.last && whole && IsClamp(s.epilogue->activation.op)) return StoreClamped<MR>(low, high, s, row);
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
    float* out = s.out + (row + i) * s.out_stride;
    StoreN(low[i], d, out, s.columns);
    if (second) StoreN(high[i], d, out + kLanes, second);
  }
  if (s.last) {
    for (int i = 0; i < MR; ++i) FinishRow(s.out + (row + i) * s.out_stride, s, row + i);
  }
}

using TileFunction = void (*)(const Strip&, size_t row);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr TileFunction kTiles[] = {RunTile<1>, RunTile<2>, RunTile<3>, RunTile<4>,
                                   RunTile<5>, RunTile<6>, RunTile<7>, RunTile<8>};
#else
constexpr TileFunction kTiles[] = {RunTile<1>, RunTile<2>, RunTile<3>, RunTile<4>, RunTile<5>, RunTile<6>};
#endif
static_assert(sizeof(kTiles) / sizeof(kTiles[0]) == kTileRows);

inline void RunStrip(const Strip& strip) {
  const EvenPieces tiles(static_cast<int64_t>(strip.row_count), kTileRows);
  for (int64_t t = 0; t < tiles.count(); ++t) {
    const Range rows = tiles[t];
    kTiles[rows.size() - 1](strip, static_cast<size_t>(rows.begin));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
