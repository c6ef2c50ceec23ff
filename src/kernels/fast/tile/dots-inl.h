// The micro-kernel of products with so few columns that they would fill half of a vector or less: the lanes
// hold elements of K instead, and the sum of the lanes is an output. See tile.h.
#if defined(METE_DOTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_DOTS_INL_H
#undef METE_DOTS_INL_H
#else
#define METE_DOTS_INL_H
#endif

#include "kernels/fast/tile/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// The columns that share a load of an input, and the rows that share a load of a weight: up to 16 sums and 4
// weights with 32 registers, and 8 sums and 2 weights with 16. With 8 sums, two multiply-adds in each of the
// 4 cycles that one takes (Intel, AMD) need not wait.
constexpr int kMostDotColumns = HWY_TARGET == HWY_AVX3 ? 4 : 2;
constexpr size_t RowsOfDots(int columns) { return columns == 1 ? kRowsOfDots : 4; }

// Adds the products of a vector of each row's inputs, from element k on.
template <size_t MR, int NR, class Load>
HWY_INLINE void AddDots(const float* const (&a)[MR], size_t k, const float* w, size_t length,
                        const Load& load, V32 (&sums)[MR][NR]) {
  V32 weights[NR];
#pragma GCC unroll 4
  for (int j = 0; j < NR; ++j) weights[j] = load(w + static_cast<size_t>(j) * length + k);
#pragma GCC unroll 8
  for (size_t i = 0; i < MR; ++i) {
    const V32 x = load(a[i] + k);
#pragma GCC unroll 4
    for (int j = 0; j < NR; ++j) sums[i][j] = hn::MulAdd(x, weights[j], sums[i][j]);
  }
}

// Computes NR columns from `column` on of MR rows from `row` on: sum + bias. `length` is that of a packed
// column.
template <size_t MR, int NR>
HWY_NOINLINE void RunDotTile(const Strip& s, size_t row, size_t column, size_t length) {
  const F32 d;
  V32 sums[MR][NR];
#pragma GCC unroll 8
  for (size_t i = 0; i < MR; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < NR; ++j) sums[i][j] = hn::Zero(d);
  }
  const float* w = s.panel + column * length;
  for (size_t tap = 0; tap < s.taps; ++tap, w += s.k) {
    const float* const* rows = s.rows + tap * s.tap_stride + row;
    if (s.padding && AllPadding<int(MR)>(rows, s.padding)) continue;
    const float* a[MR];
#pragma GCC unroll 8
    for (size_t i = 0; i < MR; ++i) a[i] = rows[i] + s.offset;
    size_t k = 0;
    for (; k + kLanes <= s.k; k += kLanes)
      AddDots<MR, NR>(
          a, k, w, length, [=](const float* p) HWY_ATTR { return hn::LoadU(d, p); }, sums);
    if (const size_t left = s.k - k; left > 0)
      AddDots<MR, NR>(
          a, k, w, length, [=](const float* p) HWY_ATTR { return LoadN(d, p, left); }, sums);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < MR; ++i) {
    float* out = s.out + (row + i) * s.out_stride + column;
#pragma GCC unroll 4
    for (int j = 0; j < NR; ++j)
      out[j] = hn::GetLane(hn::SumOfLanes(d, sums[i][j])) +
               (s.bias ? s.bias[column + static_cast<size_t>(j)] : 0.0f);
  }
}

// Computes NR columns of as many rows from `row` on as whole tiles of kRows have. Returns the row behind
// them.
template <size_t kRows, int NR>
inline size_t RunDotRows(const Strip& s, size_t row, size_t column) {
  for (; row + kRows <= s.row_count; row += kRows) RunDotTile<kRows, NR>(s, row, column, s.taps * s.k);
  return row;
}

// Computes NR columns of all rows. The last rows run in smaller tiles.
template <int NR>
inline void RunDotColumns(const Strip& s, size_t column) {
  size_t row = RunDotRows<RowsOfDots(NR), NR>(s, 0, column);
  row = RunDotRows<RowsOfDots(NR) / 2, NR>(s, row, column);
  if constexpr (RowsOfDots(NR) > 4) row = RunDotRows<2, NR>(s, row, column);
  RunDotRows<1, NR>(s, row, column);
}

// Applies residual and activation. Rows that follow each other are one row, which fills its vectors.
inline void FinishDots(const Strip& s) {
  if (!s.residual && s.epilogue->activation.op == FusedOp::kNone) return;
  TileOutput whole = s;
  const bool dense = s.out_stride == s.columns && (!s.residual || s.residual_stride == s.columns);
  if (dense) whole.columns *= s.row_count;
  FinishRows(whole, 0, dense ? 1 : s.row_count);
}

// Computes all columns of a panel that is packed as [column][tap][k], in one chunk.
inline void RunDots(const Strip& s) {
  const EvenPieces parts(static_cast<int64_t>(s.columns), kMostDotColumns);
  for (int64_t p = 0; p < parts.count(); ++p) {
    const size_t column = static_cast<size_t>(parts[p].begin);
    switch (parts[p].size()) {
      case 1: RunDotColumns<1>(s, column); break;
      case 2: RunDotColumns<2>(s, column); break;
#if HWY_TARGET == HWY_AVX3
      case 3: RunDotColumns<3>(s, column); break;
      case 4: RunDotColumns<4>(s, column); break;
#endif
    }
  }
  FinishDots(s);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
