#include "kernels/fast/half/half_conv.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/half.h"
#include "kernels/fast/conv/indirection.h"
#include "kernels/fast/conv/strip_rows.h"
#include "kernels/fast/target/features.h"
#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/half/half_conv.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/half/half_tile-inl.h"
#include "kernels/fast/half/round-inl.h"
#include "kernels/fast/target/name-inl.h"

#ifndef METE_HALF_CONV_ONCE
#define METE_HALF_CONV_ONCE
namespace mete {

struct HalfConvCode {
  const char *target, *feature;
  int64_t lanes, most_vectors;
  int64_t rows;  // of the widest tile
  int64_t step;  // elements of a step of the sum
  // Exactly one is there, by the type of the inputs.
  void (*run_halves)(const HalfStrip<uint16_t>&);
  void (*run_floats)(const HalfStrip<float>&);
  // Rounds the rows of weights of a step, times a scale, and interleaves them. Of the last step some rows may
  // be missing.
  void (*pack_rows)(const float* first, size_t stride, size_t rows, size_t count, float scale, uint16_t* to);
  void (*round_row)(const float* from, size_t count, float scale, uint16_t* to);
};

}  // namespace mete
#endif  // METE_HALF_CONV_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

void RoundRowToBf16(const float* from, size_t count, float scale, uint16_t* to) {
  const F32 d;
  const hn::Rebind<uint16_t, F32> half;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const VU32 rounded = RoundToBf16(hn::Mul(hn::Set(d, scale), hn::LoadU(d, from + i)));
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<U32>(), rounded)), half, to + i);
  }
  for (; i < count; ++i) to[i] = F32ToBF16(scale * from[i]);
}

// Rounds up to a vector of weights of each of two rows to pairs; `rows` are there.
HWY_INLINE VU32 RoundPairs(const float* first, size_t stride, size_t rows, size_t count, V32 scale) {
  const F32 d;
  const V32 low = rows > 0 ? hn::Mul(scale, LoadN(d, first, count)) : hn::Zero(d),
            high = rows > 1 ? hn::Mul(scale, LoadN(d, first + stride, count)) : hn::Zero(d);
  return hn::Or(RoundToBf16(low), hn::ShiftLeft<16>(RoundToBf16(high)));
}

void PackPairsOfRows(const float* first, size_t stride, size_t rows, size_t count, float scale,
                     uint16_t* to) {
  const V32 times = hn::Set(F32(), scale);
  for (size_t i = 0; i < count; i += kLanes, to += 2 * kLanes)
    StorePairs(RoundPairs(first + i, stride, rows, count - i, times), std::min(count - i, kLanes), to);
}

#if HWY_TARGET == HWY_NEON
void PackFoursOfRows(const float* first, size_t stride, size_t rows, size_t count, float scale,
                     uint16_t* to) {
  const U32 d;
  const V32 times = hn::Set(F32(), scale);
  for (size_t i = 0; i < count; i += kLanes, to += 4 * kLanes) {
    const VU32 left = RoundPairs(first + i, stride, rows, count - i, times),
               right = RoundPairs(first + 2 * stride + i, stride, rows > 2 ? rows - 2 : 0, count - i, times);
    HWY_ALIGN uint32_t pairs[2 * kLanes];
    hn::StoreInterleaved2(left, right, d, pairs);
    std::memcpy(to, pairs, std::min(count - i, kLanes) * 2 * sizeof(uint32_t));
  }
}
#endif

void RoundRowToF16(const float* from, size_t count, float scale, uint16_t* to) {
  size_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  // The conversion of processors rounds to nearest; Highway's own for the others does not.
  const F32 d;
  const hn::Rebind<hwy::float16_t, F32> half;
  for (; i + kLanes <= count; i += kLanes)
    hn::StoreU(hn::DemoteTo(half, hn::Mul(hn::Set(d, scale), hn::LoadU(d, from + i))), half,
               reinterpret_cast<hwy::float16_t*>(to + i));
#endif
  for (; i < count; ++i) to[i] = F32ToF16(scale * from[i]);
}

void PackRowToF16(const float* row, size_t, size_t, size_t count, float scale, uint16_t* to) {
  RoundRowToF16(row, count, scale, to);
}

// A step of one element is one of f16, others are of bf16.
template <class Dot>
constexpr HalfConvCode CodeOf() {
  HalfConvCode code = {};
  code.target = TargetName();
  code.feature = Dot::kName;
  code.lanes = int64_t{kLanes};
  code.most_vectors = Dot::kMostVectors;
  code.rows = Dot::kMostRows[Dot::kMostVectors];
  code.step = Dot::kElements;
  if constexpr (std::is_same_v<typename Dot::Input, float>) code.run_floats = RunHalfPanel<Dot>;
  else code.run_halves = RunHalfPanel<Dot>;
  code.pack_rows = Dot::kElements == 1 ? PackRowToF16 : PackPairsOfRows;
#if HWY_TARGET == HWY_NEON
  if (kByOctets<Dot>) code.pack_rows = PackFoursOfRows;
#endif
  code.round_row = Dot::kElements == 1 ? RoundRowToF16 : RoundRowToBf16;
  return code;
}

const HalfConvCode* GetBf16Code() {
#if HWY_TARGET == HWY_AVX3
  static constexpr HalfConvCode fast = CodeOf<Bf16Dot>();
  if (Has(Feature::kAvx512Bf16)) return &fast;
#elif HWY_TARGET == HWY_NEON
  static constexpr HalfConvCode fast = CodeOf<Bf16Blocks>();
  if (Has(Feature::kBf16)) return &fast;
#endif
  static constexpr HalfConvCode widening = CodeOf<WideningBf16Dot>();
  return &widening;
}

const HalfConvCode* GetF16Code() {
  static constexpr HalfConvCode widening = CodeOf<WideningF16Dot>();
  return &widening;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetBf16Code);
HWY_EXPORT(GetF16Code);

namespace {

int64_t ElementsOfColumn(const HalfConvPlan& plan) { return plan.taps * plan.steps * plan.step; }

int64_t ElementsOfPanels(const HalfConvPlan& plan) {
  return plan.shape.groups * plan.split.padded_columns() * ElementsOfColumn(plan);
}

// Returns where the row of zeros lies, which may be one of f32: behind an even number of halves.
int64_t PaddingAt(const HalfConvPlan& plan) { return (ElementsOfPanels(plan) + 1) / 2 * 2; }

PanelPlace PlaceOf(const HalfConvPlan& plan, int64_t panel) {
  return {plan.split, ElementsOfColumn(plan), panel};
}

// Packs a panel of a convolution of 1x1 whose columns are neighbours: the rows of a step at a time.
void PackRows(const HalfConvPlan& plan, const GemmWeights& weights, const float* from, int64_t width,
              int64_t columns, uint16_t* to) {
  for (int64_t k = 0; k < plan.group_channels; k += plan.step, to += width * plan.step) {
    const int64_t rows = std::min(plan.step, plan.group_channels - k);
    plan.code->pack_rows(from + k * weights.stride, static_cast<size_t>(weights.stride),
                         static_cast<size_t>(rows), static_cast<size_t>(columns), weights.scale, to);
  }
}

// Packs a panel of a convolution of 1x1 of which each column is contiguous.
template <int64_t kStep>
void PackColumns(const HalfConvPlan& plan, const GemmWeights& weights, const float* from, int64_t width,
                 int64_t columns, uint16_t* to) {
  constexpr int64_t kPart = 256;  // a part of a column that is rounded at once
  uint16_t rounded[kPart + kStep];
  for (int64_t j = 0; j < columns; ++j, from += weights.stride)
    for (int64_t first = 0; first < plan.group_channels; first += kPart) {
      const int64_t count = std::min(kPart, plan.group_channels - first);
      plan.code->round_row(from + first, static_cast<size_t>(count), weights.scale, rounded);
      std::fill_n(rounded + count, kStep, uint16_t{0});  // of a step that is filled up
      uint16_t* step = to + (first / kStep * width + j) * kStep;
      for (int64_t k = 0; k < count; k += kStep, step += width * kStep)
        std::memcpy(step, rounded + k, kStep * sizeof(uint16_t));
    }
}

// Packs a panel whose columns have several taps. Joined taps follow one another without filled-up steps. The
// loop over columns is the inner one, so that the packed weights are written nearly in order.
template <uint16_t (*kRound)(float)>
void PackTaps(const HalfConvPlan& plan, const GemmWeights& weights, const float* from, int64_t width,
              int64_t columns, uint16_t* to) {
  const int64_t taps = plan.shape.kernel_height * plan.shape.kernel_width;
  const int64_t channel_stride = weights.transposed ? weights.stride : 1,
                element_stride = weights.transposed ? 1 : weights.stride;
  for (int64_t c = 0; c < plan.group_channels; ++c)
    for (int64_t tap = 0; tap < taps; ++tap) {
      // The place of the weight within its column: the read of one tap, and the element of that read.
      const int64_t at = plan.joined ? tap % plan.shape.kernel_width * plan.group_channels + c : c;
      const int64_t read = plan.joined ? tap / plan.shape.kernel_width : tap;
      uint16_t* row = to + (read * plan.steps + at / plan.step) * width * plan.step + at % plan.step;
      const float* column = from + (c * taps + tap) * element_stride;
      for (int64_t j = 0; j < columns; ++j)
        row[j * plan.step] = kRound(weights.scale * column[j * channel_stride]);
    }
}

void PackPanel(const HalfConvPlan& plan, const GemmWeights& weights, const PanelPlace& place, uint16_t* to) {
  const bool one_tap = plan.shape.kernel_height * plan.shape.kernel_width == 1, f16 = plan.step == 1;
  const float* from = weights.b + (place.group * plan.group_outputs + place.columns.begin - weights.first) *
                                      (weights.transposed ? weights.stride : 1);
  std::fill_n(to, place.width * ElementsOfColumn(plan), uint16_t{0});
  const auto columns = f16 ? PackColumns<1> : plan.step == 2 ? PackColumns<2> : PackColumns<4>;
  const auto pack = !one_tap             ? (f16 ? PackTaps<F32ToF16> : PackTaps<F32ToBF16>)
                    : weights.transposed ? columns
                                         : PackRows;
  pack(plan, weights, from, place.width, place.columns.size(), to);
}

struct HalfConvCall {
  const HalfConvPlan& plan;
  const uint16_t* packed;
  float* output;
};

void RunPanel(const HalfConvCode& code, const HalfStrip<uint16_t>& s) { code.run_halves(s); }
void RunPanel(const HalfConvCode& code, const HalfStrip<float>& s) { code.run_floats(s); }

template <class Input>
void RunColumns(const HalfConvCall& call, HalfStrip<Input> s, Range pass, int64_t panel) {
  const HalfConvPlan& plan = call.plan;
  const PanelPlace place = PlaceOf(plan, panel);
  const int64_t column = place.group * plan.group_outputs + place.columns.begin;
  s.offset = static_cast<size_t>(place.group * plan.group_channels);
  s.columns = static_cast<size_t>(place.columns.size());
  s.width = static_cast<size_t>(place.width);
  s.panel = call.packed + place.packed;
  RunByRows(plan.shape, s, pass, column, call.output,
            [&](const HalfStrip<Input>& strip) { RunPanel(*plan.code, strip); });
}

template <class Input>
void RunPixels(const HalfConvCall& call, const Input* input, const Epilogue& epilogue, Range pixels,
               Range panels, void* scratch) {
  const HalfConvPlan& plan = call.plan;
  const ConvShape& shape = plan.shape;
  const int64_t out_stride = shape.out_pixel_stride ? shape.out_pixel_stride : shape.out_channels;
  const int64_t residual_stride = epilogue.residual_stride ? epilogue.residual_stride : out_stride;
  const Input** table = static_cast<const Input**>(scratch);
  Input* joined = reinterpret_cast<Input*>(table + plan.taps * plan.pass);
  const Input* padding = reinterpret_cast<const Input*>(call.packed + PaddingAt(plan));
  const EvenPieces passes(pixels.size(), plan.pass);
  for (int64_t i = 0; i < passes.count(); ++i) {
    const Range pass = {pixels.begin + passes[i].begin, pixels.begin + passes[i].end};
    FillIndirection(shape, plan, input, padding, pass, table, joined);
    HalfStrip<Input> strip = {};
    strip.rows = table;
    strip.tap_stride = static_cast<size_t>(plan.pass);
    strip.row_count = static_cast<size_t>(pass.size());
    strip.taps = static_cast<size_t>(plan.taps);
    strip.k = static_cast<size_t>(plan.tap_length);
    strip.out_stride = static_cast<size_t>(out_stride);
    strip.residual_stride = static_cast<size_t>(residual_stride);
    strip.epilogue = &epilogue;
    for (int64_t p = panels.begin; p < panels.end; ++p) RunColumns(call, strip, pass, p);
  }
}

}  // namespace

HalfConvPlan PlanHalfConv(const ConvShape& shape, Precision operands) {
  HalfConvPlan plan;
  plan.shape = shape;
  plan.code =
      operands == Precision::kF16 ? HWY_DYNAMIC_DISPATCH(GetF16Code)() : HWY_DYNAMIC_DISPATCH(GetBf16Code)();
  plan.group_channels = shape.in_channels / shape.groups;
  plan.group_outputs = shape.out_channels / shape.groups;
  plan.split = Panels(plan.group_outputs, plan.code->lanes, plan.code->most_vectors);
  plan.panels = plan.split.count() * shape.groups;
  plan.row_step = plan.code->rows;
  plan.input_bytes = RoundsInputs(plan) ? int64_t{sizeof(uint16_t)} : int64_t{sizeof(float)};
  static_cast<ConvTaps&>(plan) = PlanTaps(shape, plan.row_step, plan.input_bytes);
  plan.step = plan.code->step;
  plan.steps = (plan.tap_length + plan.step - 1) / plan.step;
  return plan;
}

std::string TargetOf(const HalfConvPlan& plan) { return std::string(plan.code->target) + plan.code->feature; }

bool RoundsInputs(const HalfConvPlan& plan) { return plan.code->run_halves; }

bool IsFast(const HalfConvPlan& plan) { return *plan.code->feature != 0; }

size_t PackedHalfConvBytes(const HalfConvPlan& plan) {
  const int64_t zeros = std::max(plan.shape.in_channels, plan.tap_length);
  return static_cast<size_t>(PaddingAt(plan)) * sizeof(uint16_t) +
         static_cast<size_t>(zeros * plan.input_bytes);
}

void PackHalfConv(const HalfConvPlan& plan, const GemmWeights& weights, Range panels, void* packed) {
  uint16_t* to = static_cast<uint16_t*>(packed);
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    const PanelPlace place = PlaceOf(plan, p);
    PackPanel(plan, weights, place, to + place.packed);
  }
  if (panels.end == plan.panels)
    std::fill(to + ElementsOfPanels(plan), to + PackedHalfConvBytes(plan) / sizeof(uint16_t), uint16_t{0});
}

Range PanelChannels(const HalfConvPlan& plan, int64_t panel) {
  const PanelPlace place = PlaceOf(plan, panel);
  const int64_t of_group = place.group * plan.group_outputs;
  return {of_group + place.columns.begin, of_group + place.columns.end};
}

size_t HalfConvScratchBytes(const HalfConvPlan& plan) { return TableBytes(plan, plan.input_bytes); }

void RunHalfConv(const HalfConvPlan& plan, const uint16_t* input, const void* packed,
                 const Epilogue& epilogue, Range pixels, Range panels, float* output, void* scratch) {
  RunPixels({plan, static_cast<const uint16_t*>(packed), output}, input, epilogue, pixels, panels, scratch);
}

void RunHalfConv(const HalfConvPlan& plan, const float* input, const void* packed, const Epilogue& epilogue,
                 Range pixels, Range panels, float* output, void* scratch) {
  RunPixels({plan, static_cast<const uint16_t*>(packed), output}, input, epilogue, pixels, panels, scratch);
}

void RoundInputs(const HalfConvPlan& plan, const float* from, int64_t count, uint16_t* to) {
  plan.code->round_row(from, static_cast<size_t>(count), 1, to);
}

}  // namespace mete
#endif  // HWY_ONCE
