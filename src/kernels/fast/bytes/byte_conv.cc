#include "kernels/fast/bytes/byte_conv.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/fast/bytes/byte_conv_code.h"
#include "kernels/fast/bytes/byte_convert.h"
#include "kernels/fast/bytes/byte_elementwise.h"
#include "kernels/fast/conv/indirection.h"
#include "kernels/fast/target/features.h"
#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/bytes/byte_conv.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/bytes/by_channel-inl.h"
#include "kernels/fast/bytes/byte_tile-inl.h"
#include "kernels/fast/target/name-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

inline int64_t ChannelOf(int64_t vector, int64_t lane) {
  return static_cast<int64_t>(ChannelOfQuad(static_cast<size_t>(vector), static_cast<size_t>(lane)));
}

// The code of depthwise convolutions, which multiplies quads.
template <class Dot>
constexpr auto RunOfChannels() {
  if constexpr (Dot::kCell == kQuad) return RunChannels<Dot>;
  else return RunChannels<typename Dot::OfChannels>;
}

template <class Dot>
const ByteConvCode* CodeOf() {
  static constexpr ByteConvCode code = {TargetName(),
                                        Dot::kName,
                                        int64_t{kLanes},
                                        Dot::kMostVectors,
                                        Dot::kMostRows[Dot::kMostVectors],
                                        Dot::kCell,
                                        Dot::kSeesSigned,
                                        RunBytePanel<Dot>,
                                        RunOfChannels<Dot>(),
                                        ChannelOf};
  return &code;
}

const ByteConvCode* GetByteConvCode([[maybe_unused]] bool signed_inputs) {
#if HWY_TARGET == HWY_AVX3
  if (Has(Feature::kAvx512Vnni)) return CodeOf<VnniDot>();
#elif HWY_TARGET == HWY_AVX2
  if (Has(Feature::kAvxVnni)) return CodeOf<VnniDot>();
#elif HWY_TARGET == HWY_NEON
  if (Has(Feature::kI8mm) && Has(Feature::kDotprod))  // no processor has the former alone
    return signed_inputs ? CodeOf<SignedBlocks>() : CodeOf<MixedBlocks>();
  if (Has(Feature::kDotprod)) return CodeOf<SignedDot>();
#elif HWY_TARGET == HWY_SCALAR
  return CodeOf<PlainDot>();
#endif
#if HWY_TARGET != HWY_SCALAR
  return CodeOf<WideDot>();
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetByteConvCode);
HWY_EXPORT(SumRows);

namespace {

// The alignment of the quads of a depthwise convolution, the longest vector.
constexpr size_t kAligned = 64;

// Pixels of a pass of a depthwise convolution, so that its inputs and outputs are near while a table looks
// the outputs up, and few enough passes set their panels up. This value is a guess.
constexpr int64_t kPassOfChannels = 1024;

size_t QuadBytes(const ByteConvPlan& plan) {
  return static_cast<size_t>(ChannelColumns(plan.shape).MostQuads() * kBytesOfQuad * ChannelsOfPanel(plan));
}

// Returns the size of a row of the input's zero point, which stands for the padding: the most that a tap
// reads, in whole pointers of the table behind it.
size_t PaddingBytes(const ByteConvPlan& plan) {
  const size_t most = static_cast<size_t>(std::max(plan.shape.in_channels, plan.tap_length));
  return (most + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
}

struct ByteConvCall {
  const ByteConvPlan& plan;
  const int8_t* packed;
  const uint8_t* padding;
  const ByteEpilogue& epilogue;
  uint8_t* output;
  int64_t out_stride, out_bytes;  // elements from a pixel to the next; bytes of an element
};

// Sets what a strip has of the columns of the output from `first` on.
template <class Strip>
void SetColumns(const ByteConvCall& call, int64_t first_pixel, int64_t first, int64_t count, Strip& s) {
  s.columns = static_cast<size_t>(count);
  s.out = call.output + (first_pixel * call.out_stride + first) * call.out_bytes;
  s.epilogue.bias += first;
  if (s.epilogue.scale) s.epilogue.scale += first;
  if (s.epilogue.weight_zeros) s.epilogue.weight_zeros += first;
}

void RunPanels(const ByteConvCall& call, ByteStrip s, int64_t first_pixel, Range panels, int32_t* row_sums) {
  const ByteConvPlan& plan = call.plan;
  s.row_sums = row_sums;
  for (int64_t p = panels.begin, group = -1; p < panels.end; ++p) {
    const PanelPlace place = PlaceOf(plan, p);
    s.offset = static_cast<size_t>(place.group * plan.group_channels);
    if (s.epilogue.weight_zeros && std::exchange(group, place.group) != place.group)
      HWY_DYNAMIC_DISPATCH(SumRows)(s, plan.code->sees_signed, row_sums);
    s.panel = call.packed + place.packed;
    s.width = static_cast<size_t>(place.width);
    ByteStrip panel = s;
    SetColumns(call, first_pixel, place.group * plan.group_outputs + place.columns.begin,
               place.columns.size(), panel);
    plan.code->run_panel(panel);
  }
}

// Sets what the strips of both kinds have in common.
template <class Strip>
Strip StripOf(const ByteConvCall& call, int32_t input_zero) {
  Strip s = {};
  s.epilogue = call.epilogue;
  s.out_stride = static_cast<size_t>(call.out_stride);
  s.input_zero = SeenZero(call.plan, input_zero);
  s.flip = FlipsInputs(call.plan) ? 0x80808080u : 0;
  return s;
}

void RunPass(const ByteConvCall& call, const void* input, int32_t input_zero, Range pixels, Range panels,
             void* scratch) {
  const ByteConvPlan& plan = call.plan;
  const uint8_t** table = static_cast<const uint8_t**>(scratch);
  int32_t* row_sums = reinterpret_cast<int32_t*>(table + plan.taps * plan.pass);
  uint8_t* joined = reinterpret_cast<uint8_t*>(row_sums + plan.pass);
  FillIndirection(plan.shape, plan, static_cast<const uint8_t*>(input), call.padding, pixels, table, joined);
  auto s = StripOf<ByteStrip>(call, input_zero);
  s.rows = table;
  s.tap_stride = static_cast<size_t>(plan.pass);
  s.row_count = static_cast<size_t>(pixels.size());
  s.taps = static_cast<size_t>(plan.taps);
  s.k = static_cast<size_t>(plan.tap_length);
  RunPanels(call, s, pixels.begin, panels, row_sums);
}

void RunPassOfChannels(const ByteConvCall& call, const void* input, int32_t input_zero, Range pixels,
                       Range panels, void* scratch) {
  const ByteConvPlan& plan = call.plan;
  auto strip = StripOf<ChannelStrip>(call, input_zero);
  strip.shape = &plan.shape;
  strip.in_stride = plan.shape.in_pixel_stride ? plan.shape.in_pixel_stride : plan.shape.in_channels;
  strip.pixels = pixels;
  const size_t over = reinterpret_cast<uintptr_t>(scratch) % kAligned;
  strip.scratch = static_cast<uint8_t*>(scratch) + (over ? kAligned - over : 0);
  const int64_t channels = ChannelsOfPanel(plan);
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    const int64_t first = p * channels;
    ChannelStrip s = strip;
    s.input = static_cast<const uint8_t*>(input) + first;
    s.padding = call.padding + first;
    s.panel = call.packed + first * plan.quads * kBytesOfQuad;
    SetColumns(call, pixels.begin, first, std::min(channels, plan.shape.out_channels - first), s);
    plan.code->run_channels(s);
  }
}

// Returns the output channels of panels.
Range ChannelsOf(const ByteConvPlan& plan, Range panels) {
  if (plan.by_channel)
    return {panels.begin * ChannelsOfPanel(plan),
            std::min(panels.end * ChannelsOfPanel(plan), plan.shape.out_channels)};
  const PanelPlace first = PlaceOf(plan, panels.begin), last = PlaceOf(plan, panels.end - 1);
  return {first.group * plan.group_outputs + first.columns.begin,
          last.group * plan.group_outputs + last.columns.end};
}

// Sends the bytes of the given pixels and channels through the table.
void LookUpRows(const ByteConvCall& call, Range pixels, Range channels) {
  uint8_t* first = call.output + pixels.begin * call.out_stride + channels.begin;
  if (channels.size() == call.out_stride)
    return RunByteTable(call.epilogue.table, first, {0, pixels.size() * call.out_stride}, first);
  for (int64_t p = 0; p < pixels.size(); ++p, first += call.out_stride)
    RunByteTable(call.epilogue.table, first, {0, channels.size()}, first);
}

// Replaces the sums of the given pixels and channels by floats.
void ScaleRows(const ByteConvCall& call, Range pixels, Range channels) {
  const ByteEpilogue& e = call.epilogue;
  for (int64_t p = pixels.begin; p < pixels.end; ++p)
    ScaleSums(e.sum_scale + channels.begin, e.sum_bias ? e.sum_bias + channels.begin : nullptr,
              channels.size(), call.output + (p * call.out_stride + channels.begin) * call.out_bytes);
}

}  // namespace

ByteConvPlan PlanByteConv(const ConvShape& shape, bool signed_inputs) {
  ByteConvPlan plan;
  plan.shape = shape;
  plan.signed_inputs = signed_inputs;
  plan.code = HWY_DYNAMIC_DISPATCH(GetByteConvCode)(signed_inputs);
  plan.group_channels = shape.in_channels / shape.groups;
  plan.group_outputs = shape.out_channels / shape.groups;
  plan.split = Panels(plan.group_outputs, plan.code->lanes, plan.code->most_vectors);
  plan.panels = plan.split.count() * shape.groups;
  plan.row_step = plan.code->rows;
  static_cast<ConvTaps&>(plan) = PlanTaps(shape, plan.row_step, 1);
  plan.by_channel = IsByChannel(shape);
  const int64_t cell = plan.code->cell;
  plan.quads = (plan.tap_length + cell - 1) / cell * (cell / kBytesOfQuad);
  if (!plan.by_channel) return plan;
  const ChannelColumns columns(shape);
  plan.quads = columns.width * columns.groups;
  plan.panels = (shape.out_channels + ChannelsOfPanel(plan) - 1) / ChannelsOfPanel(plan);
  plan.pass = kPassOfChannels;
  return plan;
}

std::string TargetOf(const ByteConvPlan& plan) { return std::string(plan.code->target) + plan.code->feature; }

bool IsFast(const ByteConvPlan& plan) { return *plan.code->feature != 0; }

size_t ByteConvScratchBytes(const ByteConvPlan& plan) {
  if (plan.by_channel) return PaddingBytes(plan) + kAligned + QuadBytes(plan);
  return PaddingBytes(plan) + static_cast<size_t>(plan.pass) * sizeof(int32_t) + TableBytes(plan, 1);
}

void RunByteConv(const ByteConvPlan& plan, const void* input, int32_t input_zero, const void* packed,
                 const ByteEpilogue& epilogue, Range pixels, Range panels, void* output, void* scratch) {
  const ConvShape& shape = plan.shape;
  uint8_t* padding = static_cast<uint8_t*>(scratch);
  std::memset(padding, input_zero, PaddingBytes(plan));
  scratch = padding + PaddingBytes(plan);
  const ByteConvCall call = {plan,
                             static_cast<const int8_t*>(packed),
                             padding,
                             epilogue,
                             static_cast<uint8_t*>(output),
                             shape.out_pixel_stride ? shape.out_pixel_stride : shape.out_channels,
                             epilogue.scale ? 1 : int64_t{sizeof(int32_t)}};
  const EvenPieces passes(pixels.size(), plan.pass);
  for (int64_t i = 0; i < passes.count(); ++i) {
    const Range pass = {pixels.begin + passes[i].begin, pixels.begin + passes[i].end};
    if (plan.by_channel) RunPassOfChannels(call, input, input_zero, pass, panels, scratch);
    else RunPass(call, input, input_zero, pass, panels, scratch);
    if (epilogue.sum_scale) ScaleRows(call, pass, ChannelsOf(plan, panels));
    if (epilogue.table) LookUpRows(call, pass, ChannelsOf(plan, panels));
  }
}

}  // namespace mete
#endif  // HWY_ONCE
