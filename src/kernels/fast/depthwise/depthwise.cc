#include "kernels/fast/depthwise/depthwise.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"
#include "kernels/fast/tile/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/depthwise/depthwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/activation-inl.h"
#include "kernels/fast/target/name-inl.h"

#ifndef METE_DEPTHWISE_ONCE
#define METE_DEPTHWISE_ONCE
namespace mete {

// One output row, or two neighbouring ones. All pointers point at the first channel of the block.
struct DepthwiseRow {
  static constexpr int kMostRows = 6;  // input rows that two output rows of a 5x5 kernel read

  const ConvShape& shape;
  const Epilogue& epilogue;
  const float* input;     // pixel (ky_begin's input row, column 0)
  int64_t row_step;       // elements from one kernel row's input row to the next
  int64_t in_stride;      // elements from pixel to pixel
  const float* weights;   // weights of kernel row ky_begin
  int64_t kernel_rows;    // kernel rows inside the input
  const float* bias;      // or null
  const float* residual;  // at output column 0, or null
  int64_t residual_stride;
  float* output;  // at output column 0
  int64_t out_stride;
  int64_t channels;
  // Only the specialized code uses the following members. `rows` points at column 0 of every input row from
  // kernel row 0 on, or is null for rows in the padding.
  const float* rows[kMostRows] = {};
  const float* all_weights = nullptr;  // weights of kernel row 0
  // Whether to compute the next output row too, which requires a stride_y of 1, channels that fill a vector,
  // and that it follows in memory.
  bool two = false;
};

struct DepthwiseCode {
  const char* target;
  int64_t channel_step;
  void (*run_row)(const DepthwiseRow&);
};

}  // namespace mete
#endif  // METE_DEPTHWISE_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

template <bool kWhole>
HWY_INLINE V32 LoadSome(const float* p, size_t count) {
  if constexpr (kWhole) return hn::LoadU(F32(), p);
  return LoadN(F32(), p, count);
}

template <bool kWhole>
HWY_INLINE void StoreSome(V32 v, float* p, size_t count) {
  if constexpr (kWhole) return hn::StoreU(v, F32(), p);
  StoreN(v, F32(), p, count);
}

template <bool kWhole>
HWY_INLINE V32 BiasOf(const DepthwiseRow& r, int64_t c, size_t count) {
  return r.bias ? LoadSome<kWhole>(r.bias + c, count) : hn::Zero(F32());
}

// Adds the residual, applies the activation and stores. `at` counts pixels from column 0 of the first output
// row.
template <bool kWhole, class F>
HWY_INLINE void Finish(const DepthwiseRow& r, V32 v, int64_t at, int64_t c, size_t count, const F& f) {
  if (r.residual) v = hn::Add(v, LoadSome<kWhole>(r.residual + at * r.residual_stride + c, count));
  StoreSome<kWhole>(f(v), r.output + at * r.out_stride + c, count);
}

template <bool kWhole, int R, int P, class F>
HWY_INLINE void FinishTile(const DepthwiseRow& r, const V32 (&sums)[R][P], int64_t x, int64_t c, size_t count,
                           const F& f) {
#pragma GCC unroll 2
  for (int o = 0; o < R; ++o) {
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) Finish<kWhole>(r, sums[o][p], o * r.shape.out_width + x + p, c, count, f);
  }
}

// Which of the (up to two) output rows read an input row.
enum class Readers { kUpper, kLower, kBoth };

// Adds the contribution of one input row to R output rows x P columns. `in` points at the tile's first
// column. `w` is the kernel row of the upper output row; the kernel row of the lower output row is the one
// before it.
template <int K, int S, int P, int R, Readers kReaders, bool kEdge, bool kWhole>
HWY_INLINE void AddInputRow(const DepthwiseRow& r, const float* in, const float* w, int64_t left,
                            size_t count, V32 (&sums)[R][P]) {
  constexpr bool kUpper = kReaders != Readers::kLower, kLower = kReaders != Readers::kUpper;
  const int64_t channels = r.shape.in_channels;
  V32 upper[K], lower[K];
#pragma GCC unroll 5
  for (int kx = 0; kx < K; ++kx) {
    if (kUpper) upper[kx] = LoadSome<kWhole>(w + kx * channels, count);
    if (kLower) lower[kx] = LoadSome<kWhole>(w + (kx - K) * channels, count);
  }
#pragma GCC unroll 16
  for (int column = 0; column < (P - 1) * S + K; ++column) {
    if (kEdge && (left + column < 0 || left + column >= r.shape.in_width)) continue;
    const V32 v = LoadSome<kWhole>(in + column * r.in_stride, count);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      const int kx = column - p * S;
      if (kx < 0 || kx >= K) continue;
      if (kUpper) sums[0][p] = hn::MulAdd(v, upper[kx], sums[0][p]);
      if (kLower) sums[R - 1][p] = hn::MulAdd(v, lower[kx], sums[R - 1][p]);
    }
  }
}

// Computes one vector of channels of R output rows x P columns. Each input is loaded once for all outputs
// that read it: a load takes about as long as one multiply-add, so a tile of one output would wait for its
// inputs. kEdge means that some columns are in the padding.
template <int K, int S, int P, int R, bool kEdge, bool kWhole>
HWY_INLINE void TileVector(const DepthwiseRow& r, int64_t x, int64_t c, size_t count, const InRegisters& f) {
  V32 sums[R][P];
  const V32 bias = BiasOf<kWhole>(r, c, count);
#pragma GCC unroll 2
  for (int o = 0; o < R; ++o) {
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) sums[o][p] = bias;
  }
  const int64_t left = x * S - r.shape.pad_left, to_tile = left * r.in_stride + c,
                row_weights = K * r.shape.in_channels;
  const float* w = r.all_weights + c;
#ifndef METE_SANITIZED
#pragma GCC unroll 6  // 10 to 25 % faster, but many times the code: sanitized builds of this file took ten
                      // minutes
#endif
  for (int row = 0; row < K + R - 1; ++row, w += row_weights) {
    const float* in = r.rows[row];
    if (!in) continue;
    if (R == 1 || row == 0)
      AddInputRow<K, S, P, R, Readers::kUpper, kEdge, kWhole>(r, in + to_tile, w, left, count, sums);
    else if (row < K)
      AddInputRow<K, S, P, R, Readers::kBoth, kEdge, kWhole>(r, in + to_tile, w, left, count, sums);
    else AddInputRow<K, S, P, R, Readers::kLower, kEdge, kWhole>(r, in + to_tile, w, left, count, sums);
  }
  if (f.gate) return FinishTile<kWhole>(r, sums, x, c, count, [&](V32 v) HWY_ATTR { return f.Gated(v); });
  FinishTile<kWhole>(r, sums, x, c, count, [&](V32 v) HWY_ATTR { return f.Clamped(v); });
}

// Applies an activation that is not applied in registers to `columns` columns of `rows` output rows, which
// are still in the first-level cache.
HWY_NOINLINE void ActivateColumns(const DepthwiseRow& r, int64_t x, int columns, int rows) {
  for (int o = 0; o < rows; ++o) {
    float* out = r.output + (o * r.shape.out_width + x) * r.out_stride;
    const size_t channels = static_cast<size_t>(r.channels), stride = static_cast<size_t>(r.out_stride);
    ActivateRows(r.epilogue.activation, {static_cast<size_t>(columns), channels, stride}, out, out);
  }
}

// Computes R output rows x P columns. A last vector that would end behind the last channel begins earlier,
// and computes some channels of the vector before it again. If there are fewer channels than lanes, only
// tiles of one row and one column are used.
template <int K, int S, int P, int R, bool kEdge>
HWY_NOINLINE void RunColumns(const DepthwiseRow& r, int64_t x) {
  const InRegisters f(r.epilogue.activation);
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  if (r.channels >= kStep) {
    for (int64_t c = 0; c < r.channels; c += kStep) {
      TileVector<K, S, P, R, kEdge, true>(r, x, std::min(c, r.channels - kStep), kLanes, f);
    }
  } else if constexpr (P == 1 && R == 1) {
    TileVector<K, S, P, R, kEdge, false>(r, x, 0, static_cast<size_t>(r.channels), f);
  }
  if (!IsForRegisters(r.epilogue.activation)) ActivateColumns(r, x, P, R);
}

// Computes V vectors of channels of one output column of any kernel, with only the taps that are inside the
// input. kWhole: the vectors are whole; otherwise V is 1 and the vector has `count` channels.
template <int V, bool kWhole>
HWY_INLINE void AnyVectors(const DepthwiseRow& r, int64_t x, int64_t c, size_t count, const InRegisters& f) {
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  const ConvShape& s = r.shape;
  const int64_t left = x * s.stride_x - s.pad_left;
  V32 sums[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) sums[v] = BiasOf<kWhole>(r, c + v * kStep, count);
  for (int64_t ky = 0; ky < r.kernel_rows; ++ky) {
    for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
      const int64_t column = left + kx * s.dilation_x;
      if (column < 0 || column >= s.in_width) continue;
      const float* in = r.input + ky * r.row_step + column * r.in_stride + c;
      const float* w = r.weights + (ky * s.kernel_width + kx) * s.in_channels + c;
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v)
        sums[v] = hn::MulAdd(LoadSome<kWhole>(in + v * kStep, count), LoadSome<kWhole>(w + v * kStep, count),
                             sums[v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v)
    Finish<kWhole>(r, sums[v], x, c + v * kStep, count,
                   [&](V32 sum) HWY_ATTR { return f.gate ? f.Gated(sum) : f.Clamped(sum); });
}

// Computes one output column of any kernel. The sums of several vectors of channels do not wait for each
// other.
HWY_NOINLINE void AnyColumn(const DepthwiseRow& r, int64_t x) {
  const InRegisters f(r.epilogue.activation);
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  int64_t c = 0;
  for (; c + 4 * kStep <= r.channels; c += 4 * kStep) AnyVectors<4, true>(r, x, c, kLanes, f);
  for (; c + kStep <= r.channels; c += kStep) AnyVectors<1, true>(r, x, c, kLanes, f);
  if (c < r.channels) AnyVectors<1, false>(r, x, c, static_cast<size_t>(r.channels - c), f);
  if (!IsForRegisters(r.epilogue.activation)) ActivateColumns(r, x, 1, 1);
}

constexpr int kAnyColumns = 4;  // of a tile of any kernel

// Computes V whole vectors of channels of kAnyColumns output columns, whose taps are all inside the input.
// Each weight is loaded once for all columns.
template <int V>
HWY_INLINE void AnyTile(const DepthwiseRow& r, int64_t x, int64_t c, const InRegisters& f) {
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  const ConvShape& s = r.shape;
  const float* in_tile = r.input + (x * s.stride_x - s.pad_left) * r.in_stride + c;
  const float* w = r.weights + c;
  const int64_t next = s.stride_x * r.in_stride;
  V32 sums[V][1][kAnyColumns];
#pragma GCC unroll 2
  for (int v = 0; v < V; ++v) {
    const V32 bias = BiasOf<true>(r, c + v * kStep, kLanes);
#pragma GCC unroll 4
    for (int p = 0; p < kAnyColumns; ++p) sums[v][0][p] = bias;
  }
  for (int64_t ky = 0; ky < r.kernel_rows; ++ky) {
    const float* in = in_tile + ky * r.row_step;
    for (int64_t kx = 0; kx < s.kernel_width; ++kx, in += s.dilation_x * r.in_stride, w += s.in_channels) {
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
        const V32 weight = hn::LoadU(F32(), w + v * kStep);
#pragma GCC unroll 4
        for (int p = 0; p < kAnyColumns; ++p)
          sums[v][0][p] = hn::MulAdd(hn::LoadU(F32(), in + p * next + v * kStep), weight, sums[v][0][p]);
      }
    }
  }
#pragma GCC unroll 2
  for (int v = 0; v < V; ++v)
    FinishTile<true>(r, sums[v], x, c + v * kStep, kLanes,
                     [&](V32 sum) HWY_ATTR { return f.gate ? f.Gated(sum) : f.Clamped(sum); });
}

HWY_NOINLINE void AnyColumns(const DepthwiseRow& r, int64_t x) {
  const InRegisters f(r.epilogue.activation);
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  int64_t c = 0;
  for (; c + 2 * kStep <= r.channels; c += 2 * kStep) AnyTile<2>(r, x, c, f);
  // A last vector that would end behind the last channel begins earlier.
  for (; c < r.channels; c += kStep) AnyTile<1>(r, x, std::min(c, r.channels - kStep), f);
  if (!IsForRegisters(r.epilogue.activation)) ActivateColumns(r, x, kAnyColumns, 1);
}

// Computes a row of any kernel.
inline void RunAny(const DepthwiseRow& r) {
  const ConvShape& s = r.shape;
  const bool vectors = r.channels >= static_cast<int64_t>(kLanes);
  const int64_t reach = (s.kernel_width - 1) * s.dilation_x;
  const auto is_inside = [&](int64_t x) {
    const int64_t left = x * s.stride_x - s.pad_left;
    return left >= 0 && left + (kAnyColumns - 1) * s.stride_x + reach < s.in_width;
  };
  for (int64_t x = 0; x < s.out_width;) {
    const bool tile = vectors && x + kAnyColumns <= s.out_width && is_inside(x);
    if (tile) AnyColumns(r, x);
    else AnyColumn(r, x);
    x += tile ? kAnyColumns : 1;
  }
}

// Computes rows with tiles of four and three columns if there are enough columns. Example: 7 columns are
// tiles of 3 and 4.
template <int K, int S, int R>
inline void RunOwn(const DepthwiseRow& r) {
  const ConvShape& s = r.shape;
  const EvenPieces pieces(s.out_width, r.channels < static_cast<int64_t>(kLanes) ? 1 : 4);
  for (int64_t i = 0; i < pieces.count(); ++i) {
    const int64_t x = pieces[i].begin, columns = pieces[i].size(), left = x * S - s.pad_left;
    const bool inside = left >= 0 && left + (columns - 1) * S + K <= s.in_width;
    if (columns == 4 && inside) RunColumns<K, S, 4, R, false>(r, x);
    else if (columns == 4) RunColumns<K, S, 4, R, true>(r, x);
    else if (columns == 3) RunColumns<K, S, 3, R, true>(r, x);
    else if (columns == 2) RunColumns<K, S, 2, R, true>(r, x);
    else RunColumns<K, S, 1, R, true>(r, x);
  }
}

template <int K>
inline void RunOwn(const DepthwiseRow& r) {
  if (r.shape.stride_x == 2) RunOwn<K, 2, 1>(r);
  else if (r.two) RunOwn<K, 1, 2>(r);
  else RunOwn<K, 1, 1>(r);
}

void RunRow(const DepthwiseRow& r) {
  const ConvShape& s = r.shape;
  if (!HasOwnCode(s)) {
    RunAny(r);
  } else if (s.kernel_width == 3) {
    RunOwn<3>(r);
  } else {
    RunOwn<5>(r);
  }
}

const DepthwiseCode* GetDepthwiseCode() {
  static constexpr DepthwiseCode code = {TargetName(), static_cast<int64_t>(kLanes), RunRow};
  return &code;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetDepthwiseCode);

bool IsDepthwise(const ConvShape& shape) {
  return shape.groups == shape.in_channels && shape.in_channels == shape.out_channels && shape.groups > 1;
}

DepthwisePlan PlanDepthwise(const ConvShape& shape) {
  const DepthwiseCode* code = HWY_DYNAMIC_DISPATCH(GetDepthwiseCode)();
  return {shape, shape.batch * shape.out_height, code->channel_step, code};
}

const char* TargetOf(const DepthwisePlan& plan) { return plan.code->target; }

size_t PackedDepthwiseBytes(const DepthwisePlan& plan) {
  return static_cast<size_t>(plan.shape.kernel_height * plan.shape.kernel_width * plan.shape.in_channels) *
         sizeof(float);
}

void PackDepthwise(const DepthwisePlan& plan, const float* weights, float* packed) {
  const int64_t taps = plan.shape.kernel_height * plan.shape.kernel_width;
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < plan.shape.in_channels; ++c) *packed++ = weights[c * taps + tap];
  }
}

void RunDepthwise(const DepthwisePlan& plan, const float* input, const float* packed,
                  const Epilogue& epilogue, Range rows, Range channels, float* output) {
  const ConvShape& s = plan.shape;
  const int64_t in_stride = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels;
  const int64_t out_stride = s.out_pixel_stride ? s.out_pixel_stride : s.out_channels;
  const int64_t residual_stride = epilogue.residual_stride ? epilogue.residual_stride : out_stride;
  const int64_t row_length = s.in_width * in_stride;
  const bool own = HasOwnCode(s);
  const int64_t c = channels.begin;
  for (int64_t row = rows.begin; row < rows.end;) {
    const int64_t n = row / s.out_height, y = row % s.out_height, top = y * s.stride_y - s.pad_top;
    // The kernel rows [ky, ky_end) are inside the input.
    const int64_t ky = top < 0 ? std::min(s.kernel_height, (-top + s.dilation_y - 1) / s.dilation_y) : 0;
    const int64_t below = s.in_height - top;
    const int64_t ky_end =
        below <= 0 ? ky : std::clamp((below + s.dilation_y - 1) / s.dilation_y, ky, s.kernel_height);
    const int64_t first_row = ky < ky_end ? n * s.in_height + top + ky * s.dilation_y : 0;
    const int64_t pixel = row * s.out_width, spread_row = row * s.out_row_stride;
    DepthwiseRow r = {s,
                      epilogue,
                      input + first_row * row_length + c,
                      s.dilation_y * row_length,
                      in_stride,
                      packed + ky * s.kernel_width * s.in_channels + c,
                      ky_end - ky,
                      epilogue.bias ? epilogue.bias + c : nullptr,
                      epilogue.residual
                          ? epilogue.residual + (spread_row ? spread_row : pixel * residual_stride) + c
                          : nullptr,
                      residual_stride,
                      output + (spread_row ? spread_row : pixel * out_stride) + c,
                      out_stride,
                      channels.size()};
    if (own) {
      r.two = channels.size() >= plan.channel_step && s.stride_x == 1 && s.stride_y == 1 &&
              row + 1 < rows.end && y + 1 < s.out_height && s.out_row_stride == 0;
      r.all_weights = packed + c;
      for (int64_t i = 0; i < s.kernel_height + (r.two ? 1 : 0); ++i) {
        const bool inside = top + i >= 0 && top + i < s.in_height;
        if (inside) r.rows[i] = input + (n * s.in_height + top + i) * row_length + c;
      }
    }
    plan.code->run_row(r);
    row += r.two ? 2 : 1;
  }
}

}  // namespace mete
#endif  // HWY_ONCE
