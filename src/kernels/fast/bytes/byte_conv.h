// 2-D convolution of bytes over NHWC, with any kernel, stride, dilation and groups, and with exact sums:
//   sum[n, y, x, m] = sum over taps and channels of (input - input's zero point) * (weight - its zero point)
//                     + bias[m]
// The output is either the sums or bytes, as ONNX's ConvInteger and QLinearConv define them. A product of
// matrices is a convolution of 1x1. Inputs and outputs are uint8_t or int8_t. Depthwise convolutions have
// code of their own, with channels in the lanes and quads of taps.
//
// As for f32 (conv.h), the caller plans once and packs the weights once; then it computes any blocks on any
// threads. No kernel here allocates, starts a thread or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/fast/bytes/byte_tile.h"
#include "kernels/fast/conv/conv.h"
#include "kernels/fast/tile/panels.h"

namespace mete {

struct ByteConvCode;  // the code of one target and its features

struct ByteConvPlan : ConvTaps {
  ConvShape shape;
  bool signed_inputs = false;
  bool by_channel =
      false;  // depthwise: a panel has the channels of a vector of bytes, and there are no groups
  int64_t group_channels = 0, group_outputs = 0;  // input and output channels of one group
  int64_t quads = 0;                              // of a tap, whole cells; of all taps if by_channel is set
  Panels split;                                   // panels of one group's outputs
  int64_t panels = 0;                             // panels of all groups, group by group
  int64_t row_step = 0;                           // pixels of a register tile
  const ByteConvCode* code = nullptr;
};

// The most that a weight adds to what a sum starts with and to the sum itself: an unsigned input, or its zero
// point, times a signed weight, each once.
inline constexpr int64_t kMostOfProduct = 2 * 255 * 128;
// The longest sum without a bias that no 32-bit sum can overflow.
inline constexpr int64_t kLongestByteSum = (int64_t{1} << 31) / kMostOfProduct - 1;

// Returns whether a convolution is depthwise, so that its plan has by_channel set.
inline bool IsByChannel(const ConvShape& s) {
  return s.groups > 1 && s.in_channels == s.groups && s.out_channels == s.groups;
}

// Plans a convolution. Requires sizes > 0, pads >= 0, in_channels and out_channels that are multiples of
// groups, and sums that are at most kLongestByteSum long.
ByteConvPlan PlanByteConv(const ConvShape& shape, bool signed_inputs);

std::string TargetOf(const ByteConvPlan& plan);  // "avx512 vnni"

// Returns whether an instruction of the processor adds four products of bytes to a sum.
bool IsFast(const ByteConvPlan& plan);

// Weights as in ONNX: [out_channels][in_channels / groups][kernel_height][kernel_width]. The right operand of
// a product, [K][N], has other strides: an output channel is a column.
struct ByteWeights {
  const void* bytes = nullptr;  // int8_t or uint8_t
  bool is_signed = true;
  int64_t channel_stride = 0;  // elements from an output channel to the next; 0: the length of a sum
  int64_t element_stride = 1;  // elements between the weights of a channel
};

// Returns the size of the packed weights.
size_t PackedByteConvBytes(const ByteConvPlan& plan);

// Packs the given panels, each at a place that does not depend on the others. `packed` has
// PackedByteConvBytes() bytes, best aligned to 64 bytes.
void PackByteConv(const ByteConvPlan& plan, const ByteWeights& weights, Range panels, void* packed);

// Writes the sum of the weights of each output channel, as the kernel sees them, to `sums`.
void SumByteWeights(const ByteConvPlan& plan, const ByteWeights& weights, int32_t* sums);

// Writes to `start` what the sums of each output channel start with (ByteEpilogue::bias). `bias` may be null.
// `weight_sums`: of SumByteWeights().
void StartOfByteSums(const ByteConvPlan& plan, const int32_t* weight_sums, const int32_t* bias,
                     int32_t input_zero, int32_t* start);

// Returns what ByteEpilogue::weight_zeros has for a zero point of the weights.
inline int32_t MinusWeightZero(bool is_signed, int32_t zero) { return (is_signed ? 0 : 128) - zero; }

// Returns the size of one thread's working memory.
size_t ByteConvScratchBytes(const ByteConvPlan& plan);

// Computes the output pixels `pixels` (numbered over batch, height, width) and the output channels of
// `panels`. `input`, `output` and the epilogue's pointers are those of the whole tensors; `input_zero` is the
// input's zero point. `scratch` has ByteConvScratchBytes() bytes, aligned to 8 bytes.
void RunByteConv(const ByteConvPlan& plan, const void* input, int32_t input_zero, const void* packed,
                 const ByteEpilogue& epilogue, Range pixels, Range panels, void* output, void* scratch);

}  // namespace mete
