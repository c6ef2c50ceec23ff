#include "kernels/fast/bytes/byte_conv.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

#ifndef METE_BYTE_CONV_ONCE
#define METE_BYTE_CONV_ONCE
namespace mete {

struct ByteConvCode {
  const char *target, *feature;
  int64_t lanes, most_vectors;
  int64_t rows;      // of the widest tile
  int64_t cell;      // neighbouring bytes of a tap that lie together in a panel: 4 or 8
  bool sees_signed;  // inputs; else they are seen as unsigned
  using Run = void (*)(const ByteStrip&);
  Run run_panel, run_channels;  // a panel, and a panel of channels (by_channel)
  // The place of a channel's quad within four vectors of quads (by_channel-inl.h).
  int64_t (*channel_of_quad)(int64_t vector, int64_t lane);
};

}  // namespace mete
#endif  // METE_BYTE_CONV_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

inline int64_t ChannelOf(int64_t vector, int64_t lane) {
  return static_cast<int64_t>(ChannelOfQuad(static_cast<size_t>(vector), static_cast<size_t>(lane)));
}

template <class Dot>
constexpr ByteConvCode::Run RunOfChannels() {
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

namespace {

constexpr int64_t kBytesOfQuad = 4;

int64_t BytesOfColumn(const ByteConvPlan& plan) { return plan.taps * plan.quads * kBytesOfQuad; }

// Channels of a panel of a depthwise convolution.
int64_t ChannelsOfPanel(const ByteConvPlan& plan) { return kBytesOfQuad * plan.code->lanes; }

int64_t BytesOfPanels(const ByteConvPlan& plan) {
  if (plan.by_channel) return plan.panels * plan.quads * kBytesOfQuad * ChannelsOfPanel(plan);
  return plan.shape.groups * plan.split.padded_columns() * BytesOfColumn(plan);
}

PanelPlace PlaceOf(const ByteConvPlan& plan, int64_t panel) {
  return {plan.split, BytesOfColumn(plan), panel};
}

// Reads weights as signed bytes: the top bit of unsigned ones is flipped, which makes them 128 smaller.
class SignedWeights {
 public:
  SignedWeights(const ByteConvPlan& plan, const ByteWeights& weights)
      : bytes_(static_cast<const uint8_t*>(weights.bytes)),
        flip_(weights.is_signed ? 0 : 0x80),
        length_(plan.group_channels * plan.shape.kernel_height * plan.shape.kernel_width),
        channel_stride_(weights.channel_stride ? weights.channel_stride : length_),
        element_stride_(weights.element_stride) {}

  int64_t length() const { return length_; }  // of a sum
  // Whether the weights of neighbouring channels are neighbours, as in the right operand of a product.
  bool channels_are_dense() const { return channel_stride_ == 1; }
  // Points at the weight of a channel, without its flip.
  const uint8_t* at(int64_t channel, int64_t element) const {
    return bytes_ + channel * channel_stride_ + element * element_stride_;
  }
  uint8_t flip() const { return flip_; }
  int8_t operator()(int64_t channel, int64_t element) const {
    return static_cast<int8_t>(bytes_[channel * channel_stride_ + element * element_stride_] ^ flip_);
  }

 private:
  const uint8_t* bytes_;
  uint8_t flip_;
  int64_t length_, channel_stride_, element_stride_;
};

// Returns whether the kernel sees inputs with their top bit flipped, signed ones as unsigned or the other
// way.
bool FlipsInputs(const ByteConvPlan& plan) { return plan.signed_inputs != plan.code->sees_signed; }

// Returns the zero point of inputs as the kernel sees them.
int32_t SeenZero(const ByteConvPlan& plan, int32_t zero) {
  if (!FlipsInputs(plan)) return zero;
  return plan.code->sees_signed ? zero - 128 : zero + 128;
}

// Packs one panel of a convolution of 1x1 whose channels are dense: four rows are interleaved at a time.
void PackRows(const ByteConvPlan& plan, const SignedWeights& weights, const PanelPlace& place, int8_t* to) {
  const int64_t first = place.group * plan.group_outputs + place.columns.begin, count = place.columns.size();
  const int64_t cell = plan.code->cell;
  const uint32_t flip = weights.flip() * 0x01010101u;
  for (int64_t k = 0; k < plan.group_channels; k += kBytesOfQuad) {
    const int64_t rows = std::min(kBytesOfQuad, plan.group_channels - k);
    int8_t* quads = to + k / cell * place.width * cell + k % cell;
    if (rows < kBytesOfQuad) {
      for (int64_t j = 0; j < count; ++j)
        for (int64_t i = 0; i < rows; ++i) quads[j * cell + i] = weights(first + j, k + i);
      continue;
    }
    const uint8_t *a = weights.at(first, k), *b = weights.at(first, k + 1), *c = weights.at(first, k + 2),
                  *d = weights.at(first, k + 3);
    for (int64_t j = 0; j < count; ++j) {
      const uint32_t bytes =
          (a[j] | uint32_t{b[j]} << 8 | uint32_t{c[j]} << 16 | uint32_t{d[j]} << 24) ^ flip;
      std::memcpy(quads + j * cell, &bytes, sizeof(bytes));
    }
  }
}

// Packs one panel. If the taps of a kernel row are joined, they follow one another without filled-up cells.
void PackPanel(const ByteConvPlan& plan, const SignedWeights& weights, const PanelPlace& place, int8_t* to) {
  const int64_t taps = plan.shape.kernel_height * plan.shape.kernel_width, cell = plan.code->cell;
  std::fill_n(to, place.width * BytesOfColumn(plan), int8_t{0});
  if (taps == 1 && weights.channels_are_dense()) return PackRows(plan, weights, place, to);
  for (int64_t j = 0; j < place.columns.size(); ++j) {
    const int64_t channel = place.group * plan.group_outputs + place.columns.begin + j;
    for (int64_t c = 0; c < plan.group_channels; ++c)
      for (int64_t tap = 0; tap < taps; ++tap) {
        // The place of the weight within its column: the read of one tap, and the byte of that read.
        const int64_t at = plan.joined ? tap % plan.shape.kernel_width * plan.group_channels + c : c;
        const int64_t read = plan.joined ? tap / plan.shape.kernel_width : tap;
        const int64_t cells = read * (plan.quads * kBytesOfQuad / cell) + at / cell;  // before it
        to[(cells * place.width + j) * cell + at % cell] = weights(channel, c * taps + tap);
      }
  }
}

// Packs the panel of channels from `first` on.
void PackChannels(const ByteConvPlan& plan, const SignedWeights& weights, int64_t first, int8_t* to) {
  const int64_t lanes = plan.code->lanes, width = ChannelsOfPanel(plan), half = width / 2,
                count = std::min(width, plan.shape.out_channels - first);
  std::fill_n(to, plan.quads * kBytesOfQuad * width, int8_t{0});
  for (int64_t vector = 0; vector < kBytesOfQuad; ++vector)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t at = plan.code->channel_of_quad(vector, lane), channel = count <= half ? at % half : at;
      if (channel >= count) continue;
      for (int64_t tap = 0; tap < plan.taps; ++tap) {
        const PlaceInQuads place(static_cast<size_t>(plan.taps), static_cast<size_t>(tap));
        const int64_t quad = static_cast<int64_t>(place.quad) * kBytesOfQuad + vector;
        to[(quad * lanes + lane) * kBytesOfQuad + static_cast<int64_t>(place.byte)] =
            weights(first + channel, tap);
      }
    }
}

// Sums the inputs of each row of a strip minus their zero point, both as the kernel sees them.
template <class Seen>
void SumRows(const ByteStrip& s, int32_t* sums) {
  const auto flip = static_cast<uint8_t>(s.flip);
  for (size_t row = 0; row < s.row_count; ++row) {
    int32_t sum = -s.input_zero * static_cast<int32_t>(s.taps * s.k);
    for (size_t tap = 0; tap < s.taps; ++tap) {
      const uint8_t* from = s.rows[tap * s.tap_stride + row] + s.offset;
      for (size_t k = 0; k < s.k; ++k) sum += static_cast<Seen>(from[k] ^ flip);
    }
    sums[row] = sum;
  }
}

struct ByteConvCall {
  const ByteConvPlan& plan;
  const int8_t* packed;
  const ByteEpilogue& epilogue;
  uint8_t* output;
  int64_t out_stride, out_bytes;  // elements from a pixel to the next; bytes of an element
};

// Runs the columns of the output from `first` on.
void RunColumns(const ByteConvCall& call, ByteStrip s, int64_t first_pixel, int64_t first, int64_t count,
                ByteConvCode::Run run) {
  s.columns = static_cast<size_t>(count);
  s.out = call.output + (first_pixel * call.out_stride + first) * call.out_bytes;
  s.epilogue.bias += first;
  if (s.epilogue.scale) s.epilogue.scale += first;
  if (s.epilogue.weight_zeros) s.epilogue.weight_zeros += first;
  run(s);
}

void RunPanels(const ByteConvCall& call, ByteStrip s, int64_t first_pixel, Range panels, int32_t* row_sums) {
  const ByteConvPlan& plan = call.plan;
  s.row_sums = row_sums;
  for (int64_t p = panels.begin, group = -1; p < panels.end; ++p) {
    const PanelPlace place = PlaceOf(plan, p);
    s.offset = static_cast<size_t>(place.group * plan.group_channels);
    if (s.epilogue.weight_zeros && std::exchange(group, place.group) != place.group)
      (plan.code->sees_signed ? SumRows<int8_t> : SumRows<uint8_t>)(s, row_sums);
    s.panel = call.packed + place.packed;
    s.width = static_cast<size_t>(place.width);
    RunColumns(call, s, first_pixel, place.group * plan.group_outputs + place.columns.begin,
               place.columns.size(), plan.code->run_panel);
  }
}

void RunPanelsOfChannels(const ByteConvCall& call, ByteStrip s, int64_t first_pixel, Range panels) {
  const ByteConvPlan& plan = call.plan;
  const int64_t channels = ChannelsOfPanel(plan);
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    const int64_t first = p * channels;
    s.offset = static_cast<size_t>(first);
    s.panel = call.packed + first * plan.quads * kBytesOfQuad;
    RunColumns(call, s, first_pixel, first, std::min(channels, plan.shape.out_channels - first),
               plan.code->run_channels);
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
  const int64_t cell = plan.by_channel ? kBytesOfQuad : plan.code->cell,
                length = plan.by_channel ? plan.taps : plan.tap_length;
  plan.quads = (length + cell - 1) / cell * (cell / kBytesOfQuad);
  if (plan.by_channel) plan.panels = (shape.out_channels + ChannelsOfPanel(plan) - 1) / ChannelsOfPanel(plan);
  return plan;
}

std::string TargetOf(const ByteConvPlan& plan) { return std::string(plan.code->target) + plan.code->feature; }

size_t PackedByteConvBytes(const ByteConvPlan& plan) {
  return static_cast<size_t>(BytesOfPanels(plan) + std::max(plan.shape.in_channels, plan.tap_length));
}

void PackByteConv(const ByteConvPlan& plan, const ByteWeights& weights, int32_t input_zero, Range panels,
                  void* packed) {
  const SignedWeights read(plan, weights);
  int8_t* bytes = static_cast<int8_t*>(packed);
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    if (plan.by_channel) {
      const int64_t first = p * ChannelsOfPanel(plan);
      PackChannels(plan, read, first, bytes + first * plan.quads * kBytesOfQuad);
      continue;
    }
    const PanelPlace place = PlaceOf(plan, p);
    PackPanel(plan, read, place, bytes + place.packed);
  }
  if (panels.end == plan.panels)
    std::fill(bytes + BytesOfPanels(plan), bytes + PackedByteConvBytes(plan),
              static_cast<int8_t>(input_zero));
}

void SumByteWeights(const ByteConvPlan& plan, const ByteWeights& weights, int32_t* sums) {
  const SignedWeights read(plan, weights);
  if (read.channels_are_dense()) {
    std::fill_n(sums, plan.shape.out_channels, 0);
    for (int64_t i = 0; i < read.length(); ++i) {
      const uint8_t* row = read.at(0, i);
      for (int64_t m = 0; m < plan.shape.out_channels; ++m)
        sums[m] += static_cast<int8_t>(row[m] ^ read.flip());
    }
    return;
  }
  for (int64_t m = 0; m < plan.shape.out_channels; ++m) {
    sums[m] = 0;
    for (int64_t i = 0; i < read.length(); ++i) sums[m] += read(m, i);
  }
}

void StartOfByteSums(const ByteConvPlan& plan, const int32_t* weight_sums, const int32_t* bias,
                     int32_t input_zero, int32_t* start) {
  const int64_t zero = SeenZero(plan, input_zero);
  for (int64_t m = 0; m < plan.shape.out_channels; ++m)
    start[m] = static_cast<int32_t>((bias ? bias[m] : 0) - zero * weight_sums[m]);
}

size_t ByteConvScratchBytes(const ByteConvPlan& plan) {
  return static_cast<size_t>(plan.pass) * sizeof(int32_t) + TableBytes(plan, 1);
}

void RunByteConv(const ByteConvPlan& plan, const void* input, int32_t input_zero, const void* packed,
                 const ByteEpilogue& epilogue, Range pixels, Range panels, void* output, void* scratch) {
  const ConvShape& shape = plan.shape;
  const ByteConvCall call = {plan,
                             static_cast<const int8_t*>(packed),
                             epilogue,
                             static_cast<uint8_t*>(output),
                             shape.out_pixel_stride ? shape.out_pixel_stride : shape.out_channels,
                             epilogue.scale ? 1 : int64_t{sizeof(int32_t)}};
  const uint8_t** table = static_cast<const uint8_t**>(scratch);
  int32_t* row_sums = reinterpret_cast<int32_t*>(table + plan.taps * plan.pass);
  uint8_t* joined = reinterpret_cast<uint8_t*>(row_sums + plan.pass);
  const uint8_t* padding = static_cast<const uint8_t*>(packed) + BytesOfPanels(plan);
  const EvenPieces passes(pixels.size(), plan.pass);
  for (int64_t i = 0; i < passes.count(); ++i) {
    const Range pass = {pixels.begin + passes[i].begin, pixels.begin + passes[i].end};
    FillIndirection(shape, plan, static_cast<const uint8_t*>(input), padding, pass, table, joined);
    ByteStrip strip = {};
    strip.rows = table;
    strip.tap_stride = static_cast<size_t>(plan.pass);
    strip.row_count = static_cast<size_t>(pass.size());
    strip.taps = static_cast<size_t>(plan.taps);
    strip.k = static_cast<size_t>(plan.tap_length);
    strip.epilogue = epilogue;
    strip.out_stride = static_cast<size_t>(call.out_stride);
    strip.input_zero = SeenZero(plan, input_zero);
    strip.flip = FlipsInputs(plan) ? 0x80808080u : 0;
    if (plan.by_channel) RunPanelsOfChannels(call, strip, pass.begin, panels);
    else RunPanels(call, strip, pass.begin, panels, row_sums);
    if (epilogue.sum_scale) ScaleRows(call, pass, ChannelsOf(plan, panels));
    if (epilogue.table) LookUpRows(call, pass, ChannelsOf(plan, panels));
  }
}

}  // namespace mete
#endif  // HWY_ONCE
