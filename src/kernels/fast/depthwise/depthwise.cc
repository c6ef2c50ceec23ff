#include "kernels/fast/depthwise/depthwise.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/depthwise/depthwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/activation-inl.h"
#include "kernels/fast/target/name-inl.h"

#ifndef METE_DEPTHWISE_ONCE
#define METE_DEPTHWISE_ONCE
namespace mete {

// One output row, all pointers at the first channel of the block.
struct DepthwiseRow {
  const ConvShape& shape;
  const Epilogue& epilogue;
  const float* input;  // pixel (ky_begin's input row, column 0)
  int64_t row_step;    // elements from one kernel row's input row to the next
  int64_t in_stride;   // elements from pixel to pixel
  const float* weights;  // at kernel row ky_begin
  int64_t kernel_rows;   // those that meet the input
  const float* bias;     // or null
  const float* residual;  // of output column 0, or null
  int64_t residual_stride;
  float* output;  // of output column 0
  int64_t out_stride;
  int64_t channels;
};

struct DepthwiseCode {
  const char* target;
  int64_t channel_step;
  void (*run_row)(const DepthwiseRow&);
};

// Output columns whose kernel lies wholly inside the row's width.
inline Range InnerColumns(const ConvShape& s) {
  const int64_t begin = std::min(s.out_width, (s.pad_left + s.stride_x - 1) / s.stride_x);
  const int64_t last_start = s.in_width - (s.kernel_width - 1) * s.dilation_x - 1 + s.pad_left;
  const int64_t end = last_start < 0 ? 0 : std::min(s.out_width, last_start / s.stride_x + 1);
  return {begin, std::max(begin, end)};
}

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

// Adds the residual, clamps and stores.
template <bool kWhole>
HWY_INLINE void Finish(const DepthwiseRow& r, V32 v, int64_t x, int64_t c, size_t count, V32 low, V32 high) {
  if (r.residual) v = hn::Add(v, LoadSome<kWhole>(r.residual + x * r.residual_stride + c, count));
  StoreSome<kWhole>(Clamp(v, low, high), r.output + x * r.out_stride + c, count);
}

// One vector of channels of P neighbouring output columns: each input column is loaded once and goes to all
// the outputs that its kernel column meets.
template <int KW, int S, int P, bool kWhole>
HWY_INLINE void InnerVector(const DepthwiseRow& r, int64_t x, int64_t c, size_t count, V32 low, V32 high) {
  V32 acc[P];
  const V32 bias = BiasOf<kWhole>(r, c, count);
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) acc[p] = bias;
  const float* in = r.input + (x * S - r.shape.pad_left) * r.in_stride + c;
  const float* w = r.weights + c;
  const int64_t channels = r.shape.in_channels;
  for (int64_t ky = 0; ky < r.kernel_rows; ++ky, in += r.row_step, w += KW * channels) {
    V32 weight[KW];
#pragma GCC unroll 8
    for (int kx = 0; kx < KW; ++kx) weight[kx] = LoadSome<kWhole>(w + kx * channels, count);
#pragma GCC unroll 16
    for (int column = 0; column < (P - 1) * S + KW; ++column) {
      const V32 v = LoadSome<kWhole>(in + column * r.in_stride, count);
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p) {
        const int kx = column - p * S;
        if (kx >= 0 && kx < KW) acc[p] = hn::MulAdd(v, weight[kx], acc[p]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) Finish<kWhole>(r, acc[p], x + p, c, count, low, high);
}

template <int KW, int S, int P>
HWY_NOINLINE void InnerColumnsOf(const DepthwiseRow& r, int64_t x, ClampBounds bounds) {
  const V32 low = Num(bounds.low), high = Num(bounds.high);
  constexpr int64_t kStep = static_cast<int64_t>(kLanes);
  int64_t c = 0;
  for (; c + kStep <= r.channels; c += kStep) InnerVector<KW, S, P, true>(r, x, c, kLanes, low, high);
  if (c < r.channels) InnerVector<KW, S, P, false>(r, x, c, static_cast<size_t>(r.channels - c), low, high);
}

// Any kernel, one output column, only the taps that meet the input.
HWY_NOINLINE void AnyColumn(const DepthwiseRow& r, int64_t x, ClampBounds bounds) {
  const ConvShape& s = r.shape;
  const V32 low = Num(bounds.low), high = Num(bounds.high);
  const int64_t left = x * s.stride_x - s.pad_left;
  for (int64_t c = 0; c < r.channels; c += static_cast<int64_t>(kLanes)) {
    const size_t count = static_cast<size_t>(r.channels - c);
    V32 acc = BiasOf<false>(r, c, count);
    for (int64_t ky = 0; ky < r.kernel_rows; ++ky) {
      for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
        const int64_t column = left + kx * s.dilation_x;
        if (column < 0 || column >= s.in_width) continue;
        const V32 v = LoadN(F32(), r.input + ky * r.row_step + column * r.in_stride + c, count);
        acc = hn::MulAdd(v, LoadN(F32(), r.weights + (ky * s.kernel_width + kx) * s.in_channels + c, count), acc);
      }
    }
    Finish<false>(r, acc, x, c, count, low, high);
  }
}

// [inner.begin, inner.end) in fours, then one by one.
template <int KW, int S>
inline void RunInner(const DepthwiseRow& r, Range inner, ClampBounds bounds) {
  int64_t x = inner.begin;
  for (; x + 4 <= inner.end; x += 4) InnerColumnsOf<KW, S, 4>(r, x, bounds);
  for (; x < inner.end; ++x) InnerColumnsOf<KW, S, 1>(r, x, bounds);
}

void RunRow(const DepthwiseRow& r) {
  const ConvShape& s = r.shape;
  const ClampBounds bounds = BoundsOf(r.epilogue);
  Range inner = InnerColumns(s);
  const bool plain = s.dilation_x == 1;
  if (plain && s.kernel_width == 3 && s.stride_x == 1) {
    RunInner<3, 1>(r, inner, bounds);
  } else if (plain && s.kernel_width == 3 && s.stride_x == 2) {
    RunInner<3, 2>(r, inner, bounds);
  } else if (plain && s.kernel_width == 5 && s.stride_x == 1) {
    RunInner<5, 1>(r, inner, bounds);
  } else if (plain && s.kernel_width == 5 && s.stride_x == 2) {
    RunInner<5, 2>(r, inner, bounds);
  } else {
    inner = {0, 0};
  }
  for (int64_t x = 0; x < inner.begin; ++x) AnyColumn(r, x, bounds);
  for (int64_t x = inner.end; x < s.out_width; ++x) AnyColumn(r, x, bounds);
  if (IsClamp(r.epilogue.activation.op)) return;
  for (int64_t x = 0; x < s.out_width; ++x) {
    float* out = r.output + x * r.out_stride;
    ActivateRow(r.epilogue.activation, out, static_cast<size_t>(r.channels), out);
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

bool IsDepthwise(const ConvShape& shape) { return shape.groups == shape.in_channels && shape.in_channels == shape.out_channels; }

DepthwisePlan PlanDepthwise(const ConvShape& shape) {
  const DepthwiseCode* code = HWY_DYNAMIC_DISPATCH(GetDepthwiseCode)();
  return {shape, shape.batch * shape.out_height, code->channel_step, code};
}

const char* TargetOf(const DepthwisePlan& plan) { return plan.code->target; }

size_t PackedDepthwiseBytes(const DepthwisePlan& plan) {
  return static_cast<size_t>(plan.shape.kernel_height * plan.shape.kernel_width * plan.shape.in_channels) * sizeof(float);
}

void PackDepthwise(const DepthwisePlan& plan, const float* weights, float* packed) {
  const int64_t taps = plan.shape.kernel_height * plan.shape.kernel_width;
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < plan.shape.in_channels; ++c) *packed++ = weights[c * taps + tap];
  }
}

void RunDepthwise(const DepthwisePlan& plan, const float* input, const float* packed, const Epilogue& epilogue, Range rows,
                  Range channels, float* output) {
  const ConvShape& s = plan.shape;
  const int64_t in_stride = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels;
  const int64_t out_stride = s.out_pixel_stride ? s.out_pixel_stride : s.out_channels;
  const int64_t residual_stride = epilogue.residual_stride ? epilogue.residual_stride : out_stride;
  const int64_t row_length = s.in_width * in_stride;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t n = row / s.out_height, top = row % s.out_height * s.stride_y - s.pad_top;
    // Kernel rows [ky, ky_end) meet the input.
    const int64_t ky = top < 0 ? std::min(s.kernel_height, (-top + s.dilation_y - 1) / s.dilation_y) : 0;
    const int64_t below = s.in_height - top;
    const int64_t ky_end = below <= 0 ? ky : std::clamp((below + s.dilation_y - 1) / s.dilation_y, ky, s.kernel_height);
    const int64_t first_row = ky < ky_end ? n * s.in_height + top + ky * s.dilation_y : 0;
    const int64_t pixel = row * s.out_width, c = channels.begin;
    plan.code->run_row({s, epilogue, input + first_row * row_length + c, s.dilation_y * row_length, in_stride,
                        packed + ky * s.kernel_width * s.in_channels + c, ky_end - ky, epilogue.bias ? epilogue.bias + c : nullptr,
                        epilogue.residual ? epilogue.residual + pixel * residual_stride + c : nullptr, residual_stride,
                        output + pixel * out_stride + c, out_stride, channels.size()});
  }
}

}  // namespace mete
#endif  // HWY_ONCE
