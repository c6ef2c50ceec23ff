// Winograd's transforms of one tile, with channels in the lanes (matrices.h). A transform first goes along
// one side of the tile into a small buffer in the first-level cache, then along the other side.
#if defined(METE_WINOGRAD_TRANSFORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_WINOGRAD_TRANSFORM_INL_H
#undef METE_WINOGRAD_TRANSFORM_INL_H
#else
#define METE_WINOGRAD_TRANSFORM_INL_H
#endif

#include <utility>

#include "kernels/fast/winograd/ends-inl.h"
#include "kernels/fast/winograd/matrices.h"
#include "kernels/fast/winograd/tiles.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Returns the column with which a sum over the columns first, first + step, ... of a row starts: a column
// with coefficient 1, which needs no multiplication, or else the first column whose coefficient is not 0.
template <class Row>
constexpr int StartOf(const Row& row, int size, int first, int step) {
  for (int j = first; j < size; j += step) {
    if (row[j] == 1) return j;
  }
  for (int j = first; j < size; j += step) {
    if (row[j] != 0) return j;
  }
  return first;
}

// Computes the sum of kMatrix[kRow][j] * x[j] over j = kFirst, kFirst + kStep, ... < kSize, without the
// zeros.
template <const auto& kMatrix, int kRow, int kSize, int kFirst, int kStep>
struct Dot {
  static constexpr int kStart = StartOf(kMatrix[kRow], kSize, kFirst, kStep);

  template <int J>
  static HWY_INLINE V32 From(V32 sum, const V32* x) {
    if constexpr (J >= kSize) {
      return sum;
    } else {
      constexpr double c = kMatrix[kRow][J];
      if constexpr (J != kStart && c == 1) sum = hn::Add(sum, x[J]);
      if constexpr (J != kStart && c == -1) sum = hn::Sub(sum, x[J]);
      if constexpr (J != kStart && c != 0 && c != 1 && c != -1)
        sum = hn::MulAdd(Num(static_cast<float>(c)), x[J], sum);
      return From<J + kStep>(sum, x);
    }
  }
  static HWY_INLINE V32 Of(const V32* x) {
    constexpr double c = kMatrix[kRow][kStart];
    if constexpr (c == 1) return From<kFirst>(x[kStart], x);
    return From<kFirst>(hn::Mul(Num(static_cast<float>(c)), x[kStart]), x);
  }
};

// Computes v = B^T d, two rows at a time.
template <int M, int kPair = 0>
HWY_INLINE void ForwardPairs(const V32* d, V32* v) {
  if constexpr (kPair < M / 2) {
    using Matrices = WinogradMatrices<M>;
    constexpr int r = 2 * kPair + 1;
    const V32 even = Dot<Matrices::kInput, r, M + 2, 0, 2>::Of(d),
              odd = Dot<Matrices::kInput, r, M + 2, 1, 2>::Of(d);
    v[r] = hn::Add(even, odd);
    v[r + 1] = hn::Sub(even, odd);
    ForwardPairs<M, kPair + 1>(d, v);
  }
}

template <int M>
HWY_INLINE void Forward(const V32 (&d)[M + 2], V32 (&v)[M + 2]) {
  using Matrices = WinogradMatrices<M>;
  v[0] = Dot<Matrices::kInput, 0, M + 2, 0, 2>::Of(d);
  ForwardPairs<M>(d, v);
  v[M + 1] = Dot<Matrices::kInput, M + 1, M + 2, 1, 2>::Of(d);
}

// Computes y = A^T v. `sums` and `differences` hold v[2k+1] + v[2k+2] and v[2k+1] - v[2k+2] at index 2k+1.
template <int M, int kRow = 0>
HWY_INLINE void BackwardRows(const V32* v, const V32* sums, const V32* differences, V32* y) {
  if constexpr (kRow < M) {
    using Matrices = WinogradMatrices<M>;
    y[kRow] = Dot<Matrices::kOutput, kRow, M + 1, 1, 2>::Of(kRow % 2 ? differences : sums);
    if constexpr (kRow == 0) y[kRow] = hn::Add(y[kRow], v[0]);
    if constexpr (kRow == M - 1) y[kRow] = hn::Add(y[kRow], v[M + 1]);
    BackwardRows<M, kRow + 1>(v, sums, differences, y);
  }
}

template <int M>
HWY_INLINE void Backward(const V32 (&v)[M + 2], V32 (&y)[M]) {
  V32 sums[M + 2], differences[M + 2];
#pragma GCC unroll 4
  for (int p = 1; p <= M; p += 2) {
    sums[p] = hn::Add(v[p], v[p + 1]);
    differences[p] = hn::Sub(v[p], v[p + 1]);
  }
  BackwardRows<M>(v, sums, differences, y);
}

// Transforms one vector of channels of one input tile and writes it to all positions. kWhole means that the
// tile is inside the input and that the vector has all its lanes; otherwise the vector has `count` lanes.
template <int M, bool kWhole, class Element, class Source>
HWY_INLINE void ForwardVector(const InputTile<Element>& t, const Source& load, int64_t channel, size_t count,
                              float* to, int64_t position_stride) {
  constexpr int T = M + 2;
  const F32 d;
  HWY_ALIGN float along_x[T * T * kLanes];
  const Element* from = t.origin + channel;
  for (int y = 0; y < T; ++y, from += t.row_stride) {
    float* row = along_x + y * T * static_cast<int>(kLanes);
    V32 in[T], out[T];
    const bool inside = kWhole || t.rows.Has(y);
#pragma GCC unroll 8
    for (int x = 0; x < T; ++x) {
      if constexpr (kWhole) in[x] = load(from + x * t.pixel_stride);
      else in[x] = inside && t.columns.Has(x) ? load(from + x * t.pixel_stride, count) : hn::Zero(d);
    }
    Forward<M>(in, out);
#pragma GCC unroll 8
    for (int x = 0; x < T; ++x) hn::Store(out[x], d, row + x * static_cast<int>(kLanes));
  }
  for (int x = 0; x < T; ++x) {
    V32 in[T], out[T];
#pragma GCC unroll 8
    for (int y = 0; y < T; ++y) in[y] = hn::Load(d, along_x + (y * T + x) * static_cast<int>(kLanes));
    Forward<M>(in, out);
#pragma GCC unroll 8
    for (int y = 0; y < T; ++y) hn::StoreU(out[y], d, to + (y * T + x) * position_stride);
  }
}

// Transforms one vector of output channels of one tile back from all positions, and gives the sums to `put`.
// kWhole means that the tile has M rows and M columns.
template <int M, bool kWhole, class Sink>
HWY_INLINE void BackwardVector(int rows, int columns, const float* from, int64_t position_stride,
                               const Sink& put) {
  constexpr int T = M + 2;
  const F32 d;
  HWY_ALIGN float along_y[M * T * kLanes];
  for (int x = 0; x < T; ++x) {
    V32 in[T], out[M];
#pragma GCC unroll 8
    for (int y = 0; y < T; ++y) in[y] = hn::LoadU(d, from + (y * T + x) * position_stride);
    Backward<M>(in, out);
#pragma GCC unroll 8
    for (int y = 0; y < M; ++y) hn::Store(out[y], d, along_y + (y * T + x) * static_cast<int>(kLanes));
  }
  if constexpr (kWhole) rows = columns = M;
  for (int y = 0; y < rows; ++y) {
    V32 in[T], out[M];
#pragma GCC unroll 8
    for (int x = 0; x < T; ++x) in[x] = hn::Load(d, along_y + (y * T + x) * static_cast<int>(kLanes));
    Backward<M>(in, out);
#pragma GCC unroll 8
    for (int x = 0; x < M; ++x) {
      if (!kWhole && x >= columns) break;
      put(out[x], y, x);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
