// The end of a register tile: what it does with its sums of f32. The tiles over f32 and over halves share it.
#if defined(METE_TILE_END_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_TILE_END_INL_H
#undef METE_TILE_END_INL_H
#else
#define METE_TILE_END_INL_H
#endif

#include "kernels/fast/activation-inl.h"
#include "kernels/fast/tile/tile.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Applies residual and activation, if the tile has not applied them in registers, to the sums that it has
// just stored.
inline HWY_NOINLINE void FinishRows(const TileOutput& s, size_t row, size_t rows) {
  const F32 d;
  float* out = s.out + row * s.out_stride;
  if (s.residual != nullptr) {
    for (size_t i = 0; i < rows; ++i) {
      float* to = out + i * s.out_stride;
      const float* residual = s.residual + (row + i) * s.residual_stride;
      for (size_t c = 0; c < s.columns; c += kLanes) {
        const size_t left = s.columns - c;
        StoreN(hn::Add(LoadN(d, to + c, left), LoadN(d, residual + c, left)), d, to + c, left);
      }
    }
  }
  ActivateRows(s.epilogue->activation, {rows, s.columns, s.out_stride}, out, out);
}

// Whether loads and stores of a part of a vector take no longer than those of a whole vector.
constexpr bool kFastParts = HWY_TARGET == HWY_AVX3;

// Loads the last vector of a row, which has the lanes of `mask`.
template <class Mask>
HWY_INLINE V32 LoadLast(const float* p, Mask mask) {
  if constexpr (kFastParts) return hn::MaskedLoad(mask, F32(), p);
  return hn::LoadU(F32(), p);
}
template <class Mask>
HWY_INLINE void StoreLast(V32 v, float* p, Mask mask) {
  if constexpr (kFastParts) return hn::BlendedStore(v, mask, F32(), p);
  hn::StoreU(v, F32(), p);
}

// Adds the residual of the rows from `row` on to their sums.
template <int MR, int V, class Mask>
HWY_INLINE void AddResidual(V32 (&sums)[MR][V], const TileOutput& s, size_t row, Mask mask) {
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
    const float* residual = s.residual + (row + i) * s.residual_stride;
#pragma GCC unroll 4
    for (int j = 0; j + 1 < V; ++j) sums[i][j] = hn::Add(sums[i][j], hn::LoadU(F32(), residual + j * kLanes));
    sums[i][V - 1] = hn::Add(sums[i][V - 1], LoadLast(residual + (V - 1) * kLanes, mask));
  }
}

// Stores f(sum) for all sums. The whole residual is read before the first store, because a load waits for an
// earlier store to the same offset of another page.
template <int MR, int V, class F>
HWY_INLINE void StoreTile(V32 (&sums)[MR][V], const TileOutput& s, size_t row, size_t last, const F& f) {
  const F32 d;
  const auto mask = hn::FirstN(d, last);
  if (s.residual) AddResidual<MR, V>(sums, s, row, mask);
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
    float* out = s.out + (row + i) * s.out_stride;
#pragma GCC unroll 4
    for (int j = 0; j + 1 < V; ++j) hn::StoreU(f(sums[i][j]), d, out + j * kLanes);
    StoreLast(f(sums[i][V - 1]), out + (V - 1) * kLanes, mask);
  }
}

template <int MR, int V>
HWY_INLINE void StoreActivated(V32 (&sums)[MR][V], const TileOutput& s, size_t row, size_t last) {
  const InRegisters f(s.epilogue->activation);
  if (f.gate) return StoreTile<MR, V>(sums, s, row, last, [=](V32 v) HWY_ATTR { return f.Gated(v); });
  StoreTile<MR, V>(sums, s, row, last, [=](V32 v) HWY_ATTR { return f.Clamped(v); });
}

// Loads V vectors; the last one has `last` lanes.
template <int V>
HWY_INLINE void LoadRow(const float* from, size_t last, V32 (&to)[V]) {
  const F32 d;
#pragma GCC unroll 4
  for (int j = 0; j + 1 < V; ++j) to[j] = hn::LoadU(d, from + j * kLanes);
  to[V - 1] = LoadN(d, from + (V - 1) * kLanes, last);
}

// Sets all rows of the sums to the bias.
template <int MR, int V>
HWY_INLINE void StartSums(const TileOutput& s, size_t last, V32 (&sums)[MR][V]) {
  V32 bias[V];
#pragma GCC unroll 4
  for (int j = 0; j < V; ++j) bias[j] = hn::Zero(F32());
  if (s.bias) LoadRow<V>(s.bias, last, bias);
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) sums[i][j] = bias[j];
  }
}

// Stores the sums of the rows from `row` on. `whole`: the sums have all their products, so that residual and
// activation are due.
template <int MR, int V>
HWY_INLINE void EndTile(V32 (&sums)[MR][V], const TileOutput& s, size_t row, size_t last, bool whole) {
  const F32 d;
  if (whole && (kFastParts || last == kLanes) && IsForRegisters(s.epilogue->activation))
    return StoreActivated<MR, V>(sums, s, row, last);
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
    float* out = s.out + (row + i) * s.out_stride;
#pragma GCC unroll 4
    for (int j = 0; j + 1 < V; ++j) hn::StoreU(sums[i][j], d, out + j * kLanes);
    StoreN(sums[i][V - 1], d, out + (V - 1) * kLanes, last);
  }
  if (whole) FinishRows(s, row, MR);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
