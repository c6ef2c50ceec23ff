#include "kernels/fast/half/half_conv.h"

#include <algorithm>
#include <cstring>

#include "base/half.h"
#include "kernels/fast/conv/indirection.h"
#include "kernels/fast/target/features.h"
#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/half/half_conv.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/half/half_tile-inl.h"
#include "kernels/fast/target/name-inl.h"

#ifndef METE_HALF_CONV_ONCE
#define METE_HALF_CONV_ONCE
namespace mete {

struct HalfConvCode {
  const char *target, *feature;
  int64_t lanes, most_vectors;
  int64_t rows;  // of the widest tile
  void (*run_panel)(const HalfStrip&);
  // Rounds two rows of weights, times a scale, and interleaves them. A missing second row is null.
  void (*pack_rows)(const float* first, const float* second, size_t count, float scale, uint16_t* to);
  void (*round_row)(const float* from, size_t count, float scale, uint16_t* to);
};

}  // namespace mete
#endif  // METE_HALF_CONV_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Rounds as F32ToBF16: adds half of the last bit that stays, less 1 if that bit is even.
HWY_INLINE VU32 RoundBits(V32 x) {
  const U32 d;
  const VU32 bits = hn::BitCast(d, x), odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  const VU32 rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::Set(d, 0x7fff), odd)));
  const VU32 quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(d, 0x40));
  return hn::IfThenElse(hn::RebindMask(d, hn::Eq(x, x)), rounded, quiet);
}

void RoundScaledRow(const float* from, size_t count, float scale, uint16_t* to) {
  const F32 d;
  const hn::Rebind<uint16_t, F32> half;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const VU32 rounded = RoundBits(hn::Mul(hn::Set(d, scale), hn::LoadU(d, from + i)));
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<U32>(), rounded)), half, to + i);
  }
  for (; i < count; ++i) to[i] = F32ToBF16(scale * from[i]);
}

void RoundRow(const float* from, size_t count, uint16_t* to) { RoundScaledRow(from, count, 1, to); }

void PackRowsOf(const float* first, const float* second, size_t count, float scale, uint16_t* to) {
  const F32 d;
  const V32 times = hn::Set(d, scale);
  for (size_t i = 0; i < count; i += kLanes, to += 2 * kLanes) {
    const size_t left = count - i;
    const VU32 low = RoundBits(hn::Mul(times, LoadN(d, first + i, left)));
    const V32 other = second ? hn::Mul(times, LoadN(d, second + i, left)) : hn::Zero(d);
    const VU32 pairs = hn::Or(low, hn::ShiftLeft<16>(RoundBits(other)));
    StorePairs(pairs, std::min(left, kLanes), to);
  }
}

template <class Dot>
const HalfConvCode* CodeOf() {
  static constexpr HalfConvCode code = {
      TargetName(),      Dot::kName, int64_t{kLanes}, Dot::kMostVectors, Dot::kMostRows[Dot::kMostVectors],
      RunHalfPanel<Dot>, PackRowsOf, RoundScaledRow};
  return &code;
}

const HalfConvCode* GetHalfConvCode() {
#if HWY_TARGET == HWY_AVX3
  if (Has(Feature::kAvx512Bf16)) return CodeOf<Bf16Dot>();
#endif
  return CodeOf<WideningHalfDot>();
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetHalfConvCode);
HWY_EXPORT(RoundRow);

namespace {

constexpr int64_t kElementsOfPair = 2;

int64_t ElementsOfColumn(const HalfConvPlan& plan) { return plan.taps * plan.pairs * kElementsOfPair; }

int64_t ElementsOfPanels(const HalfConvPlan& plan) {
  return plan.shape.groups * plan.split.padded_columns() * ElementsOfColumn(plan);
}

PanelPlace PlaceOf(const HalfConvPlan& plan, int64_t panel) {
  return {plan.split, ElementsOfColumn(plan), panel};
}

// Packs a panel of a convolution of 1x1 whose columns are neighbours: a pair of rows at a time.
void PackPairsOfRows(const HalfConvPlan& plan, const GemmWeights& weights, const float* from, int64_t width,
                     int64_t columns, uint16_t* to) {
  for (int64_t k = 0; k < plan.group_channels; k += kElementsOfPair, to += width * kElementsOfPair) {
    const float* first = from + k * weights.stride;
    const float* second = k + 1 < plan.group_channels ? first + weights.stride : nullptr;
    plan.code->pack_rows(first, second, static_cast<size_t>(columns), weights.scale, to);
  }
}

// Packs a panel of a convolution of 1x1 of which each column is contiguous.
void PackColumns(const HalfConvPlan& plan, const GemmWeights& weights, const float* from, int64_t width,
                 int64_t columns, uint16_t* to) {
  constexpr int64_t kPart = 256;  // a part of a column that is rounded at once
  uint16_t rounded[kPart + 1];
  for (int64_t j = 0; j < columns; ++j, from += weights.stride)
    for (int64_t first = 0; first < plan.group_channels; first += kPart) {
      const int64_t count = std::min(kPart, plan.group_channels - first);
      plan.code->round_row(from + first, static_cast<size_t>(count), weights.scale, rounded);
      rounded[count] = 0;  // of a pair that is filled up
      uint16_t* pair = to + (first / kElementsOfPair * width + j) * kElementsOfPair;
      for (int64_t k = 0; k < count; k += kElementsOfPair, pair += width * kElementsOfPair)
        std::memcpy(pair, rounded + k, kElementsOfPair * sizeof(uint16_t));
    }
}

// Packs one panel. If the taps of a kernel row are joined, they follow one another without filled-up pairs.
void PackPanel(const HalfConvPlan& plan, const GemmWeights& weights, const PanelPlace& place, uint16_t* to) {
  const int64_t taps = plan.shape.kernel_height * plan.shape.kernel_width;
  const int64_t channel_stride = weights.transposed ? weights.stride : 1,
                element_stride = weights.transposed ? 1 : weights.stride;
  const float* from =
      weights.b + (place.group * plan.group_outputs + place.columns.begin - weights.first) * channel_stride;
  std::fill_n(to, place.width * ElementsOfColumn(plan), uint16_t{0});
  if (taps == 1 && !weights.transposed)
    return PackPairsOfRows(plan, weights, from, place.width, place.columns.size(), to);
  if (taps == 1) return PackColumns(plan, weights, from, place.width, place.columns.size(), to);
  // The loop over columns is the inner one, so that the packed weights are written nearly in order.
  for (int64_t c = 0; c < plan.group_channels; ++c)
    for (int64_t tap = 0; tap < taps; ++tap) {
      // The place of the weight within its column: the read of one tap, and the element of that read.
      const int64_t at = plan.joined ? tap % plan.shape.kernel_width * plan.group_channels + c : c;
      const int64_t read = plan.joined ? tap / plan.shape.kernel_width : tap;
      uint16_t* row = to + (read * plan.pairs + at / kElementsOfPair) * place.width * kElementsOfPair +
                      at % kElementsOfPair;
      const float* column = from + (c * taps + tap) * element_stride;
      for (int64_t j = 0; j < place.columns.size(); ++j)
        row[j * kElementsOfPair] = F32ToBF16(weights.scale * column[j * channel_stride]);
    }
}

struct HalfConvCall {
  const HalfConvPlan& plan;
  const uint16_t* packed;
  float* output;
};

void RunColumns(const HalfConvCall& call, HalfStrip s, int64_t first_pixel, int64_t panel) {
  const HalfConvPlan& plan = call.plan;
  const PanelPlace place = PlaceOf(plan, panel);
  const int64_t column = place.group * plan.group_outputs + place.columns.begin;
  s.offset = static_cast<size_t>(place.group * plan.group_channels);
  s.columns = static_cast<size_t>(place.columns.size());
  s.width = static_cast<size_t>(place.width);
  s.panel = call.packed + place.packed;
  s.PointAt(call.output, first_pixel, column);
  plan.code->run_panel(s);
}

}  // namespace

HalfConvPlan PlanHalfConv(const ConvShape& shape) {
  HalfConvPlan plan;
  plan.shape = shape;
  plan.code = HWY_DYNAMIC_DISPATCH(GetHalfConvCode)();
  plan.group_channels = shape.in_channels / shape.groups;
  plan.group_outputs = shape.out_channels / shape.groups;
  plan.split = Panels(plan.group_outputs, plan.code->lanes, plan.code->most_vectors);
  plan.panels = plan.split.count() * shape.groups;
  plan.row_step = plan.code->rows;
  static_cast<ConvTaps&>(plan) = PlanTaps(shape, plan.row_step, sizeof(uint16_t));
  plan.pairs = (plan.tap_length + kElementsOfPair - 1) / kElementsOfPair;
  return plan;
}

std::string TargetOf(const HalfConvPlan& plan) { return std::string(plan.code->target) + plan.code->feature; }

bool IsFast(const HalfConvPlan& plan) { return *plan.code->feature != 0; }

size_t PackedHalfConvBytes(const HalfConvPlan& plan) {
  const int64_t zeros = std::max(plan.shape.in_channels, plan.tap_length);
  return static_cast<size_t>(ElementsOfPanels(plan) + zeros) * sizeof(uint16_t);
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

size_t HalfConvScratchBytes(const HalfConvPlan& plan) { return TableBytes(plan, sizeof(uint16_t)); }

void RunHalfConv(const HalfConvPlan& plan, const uint16_t* input, const void* packed,
                 const Epilogue& epilogue, Range pixels, Range panels, float* output, void* scratch) {
  const ConvShape& shape = plan.shape;
  const int64_t out_stride = shape.out_pixel_stride ? shape.out_pixel_stride : shape.out_channels;
  const int64_t residual_stride = epilogue.residual_stride ? epilogue.residual_stride : out_stride;
  const HalfConvCall call = {plan, static_cast<const uint16_t*>(packed), output};
  const uint16_t** table = static_cast<const uint16_t**>(scratch);
  uint16_t* joined = reinterpret_cast<uint16_t*>(table + plan.taps * plan.pass);
  const uint16_t* padding = call.packed + ElementsOfPanels(plan);
  const EvenPieces passes(pixels.size(), plan.pass);
  for (int64_t i = 0; i < passes.count(); ++i) {
    const Range pass = {pixels.begin + passes[i].begin, pixels.begin + passes[i].end};
    FillIndirection(shape, plan, input, padding, pass, table, joined);
    HalfStrip strip = {};
    strip.rows = table;
    strip.tap_stride = static_cast<size_t>(plan.pass);
    strip.row_count = static_cast<size_t>(pass.size());
    strip.taps = static_cast<size_t>(plan.taps);
    strip.k = static_cast<size_t>(plan.tap_length);
    strip.out_stride = static_cast<size_t>(out_stride);
    strip.residual_stride = static_cast<size_t>(residual_stride);
    strip.epilogue = &epilogue;
    for (int64_t p = panels.begin; p < panels.end; ++p) RunColumns(call, strip, pass.begin, p);
  }
}

void RoundToBf16(const float* from, int64_t count, uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(RoundRow)(from, static_cast<size_t>(count), to);
}

}  // namespace mete
#endif  // HWY_ONCE
