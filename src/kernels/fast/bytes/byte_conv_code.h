// What the files of the convolutions of bytes share: the code of a target, and where packed weights lie.
#pragma once

#include "kernels/fast/bytes/byte_conv.h"

namespace mete {

struct ByteConvCode {
  const char *target, *feature;
  int64_t lanes, most_vectors;
  int64_t rows;      // of the widest tile
  int64_t cell;      // neighbouring bytes of a tap that lie together in a panel: 4 or 8
  bool sees_signed;  // inputs; else they are seen as unsigned
  void (*run_panel)(const ByteStrip&);
  void (*run_channels)(const ChannelStrip&);  // a panel of channels (by_channel)
  // The place of a channel's quad within four vectors of quads (by_channel-inl.h).
  int64_t (*channel_of_quad)(int64_t vector, int64_t lane);
};

inline constexpr int64_t kBytesOfQuad = 4;

inline int64_t BytesOfColumn(const ByteConvPlan& plan) { return plan.taps * plan.quads * kBytesOfQuad; }

// Returns whether the last quad of a tap that fills no quad with its last bytes is that of its last four
// bytes. Those that the quad before has already got weights of zero.
inline bool LastQuadOverlaps(const ByteConvPlan& plan) {
  return plan.code->cell == kBytesOfQuad && plan.tap_length > kBytesOfQuad && plan.tap_length % kBytesOfQuad;
}

// Returns the channels of a panel of a depthwise convolution.
inline int64_t ChannelsOfPanel(const ByteConvPlan& plan) { return kBytesOfQuad * plan.code->lanes; }

inline int64_t BytesOfPanels(const ByteConvPlan& plan) {
  if (plan.by_channel) return plan.panels * plan.quads * kBytesOfQuad * ChannelsOfPanel(plan);
  return plan.shape.groups * plan.split.padded_columns() * BytesOfColumn(plan);
}

inline PanelPlace PlaceOf(const ByteConvPlan& plan, int64_t panel) {
  return {plan.split, BytesOfColumn(plan), panel};
}

// Returns whether the kernel sees inputs with their top bit flipped, signed ones as unsigned or the other
// way.
inline bool FlipsInputs(const ByteConvPlan& plan) { return plan.signed_inputs != plan.code->sees_signed; }

// Returns the zero point of inputs as the kernel sees them.
inline int32_t SeenZero(const ByteConvPlan& plan, int32_t zero) {
  if (!FlipsInputs(plan)) return zero;
  return plan.code->sees_signed ? zero - 128 : zero + 128;
}

}  // namespace mete
