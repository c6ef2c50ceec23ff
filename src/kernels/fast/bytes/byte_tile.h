// The terms of the register tile over bytes. Rows, panels and taps are those of kernels/fast/tile/tile.h;
// sums are of 32 bits and stay in registers from the first to the last product.
//
//   quad   four neighbouring bytes of a tap
//   cell   the bytes of a tap that instructions multiply together: a quad, or with Arm's i8mm an octet; the
//          last cell of a tap is filled up with weights of zero, at its end, or, if it overlaps the quad
//          before, at its beginning (LastQuadOverlaps)
//   panel  weights of neighbouring columns, stored as [tap][cell][width][bytes of a cell]
//
// Depthwise convolutions have quads of up to four taps of one channel instead (PlaceInQuads). A panel has the
// channels of a vector of bytes, and is stored as [quad][4][lanes][4] in the order in which the code
// interleaves the channels of four taps (by_channel-inl.h). A panel with channels for half a vector at most
// has them twice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/fast/conv/conv.h"

namespace mete {

// What a tile does to its sums. All arrays have one element for each output channel, and one vector of
// further elements behind the last channel, which are read and not used.
struct ByteEpilogue {
  // Added to the sum: the bias minus the input's zero point times the sum of the channel's weights.
  const int32_t* bias = nullptr;
  // The zero point of the weights, times -1; null where the zero points of all channels are 0.
  const int32_t* weight_zeros = nullptr;
  // Bytes = clamp(round(sum * scale), least, most) + zero, halves to the even number; null: the output is the
  // sums themselves, as int32_t.
  const float* scale = nullptr;
  // Whether all scales are below 1, so that every scaled sum fits 32 bits.
  bool small_scales = false;
  float least = 0, most = 0;  // in steps from the zero point
  int32_t zero = 0;
  bool is_signed = false;  // whether the output is int8_t rather than uint8_t
  // The scale of each sum, which makes the output f32, and the bias behind it, in f32; may be null. A tile
  // ignores both, and they are not read beyond the last channel.
  const float *sum_scale = nullptr, *sum_bias = nullptr;
  // 256 bytes through which the bytes go; may be null. A tile ignores it: RunByteConv() looks rows of tiles
  // up.
  const uint8_t* table = nullptr;
};

// The place of a tap in the quads of a depthwise convolution. The taps of a kernel's column follow each
// other, four in a quad, so that the quads of a column of the input serve all outputs that read it.
struct PlaceInQuads {
  PlaceInQuads(int64_t kernel_height, int64_t ky, int64_t kx)
      : quad(kx * ((kernel_height + 3) / 4) + ky / 4), byte(ky % 4) {}
  int64_t quad, byte;
};

// The columns of quads that a piece of an output row of a depthwise convolution reads.
struct ChannelColumns {
  static constexpr int64_t kVectors = 4;  // of a quad of taps: one for each channel of a vector of bytes
  // Of AVX-512's 256 bytes: half of a first-level cache of 48 KiB. This value is a guess.
  static constexpr int64_t kMostBlocks = 96;
  static constexpr int64_t kLeastOutputs = 4;

  explicit ChannelColumns(const ConvShape& s)
      : groups((s.kernel_height + 3) / 4),
        width(s.kernel_width),
        shared(s.dilation_x == 1 && s.stride_x < s.kernel_width),
        step(shared ? s.stride_x : width) {}

  // Columns of neighbouring outputs.
  int64_t Of(int64_t outputs) const { return (outputs - 1) * step + width; }
  // The outputs of a piece whose quads fit the working memory.
  int64_t MostOutputs() const { return std::max(kLeastOutputs, (kMostBlocks / groups - width) / step + 1); }
  // Quads of that memory, each of kVectors vectors.
  int64_t MostQuads() const { return Of(MostOutputs()) * groups; }

  int64_t groups;  // quads of a column
  int64_t width;   // columns that an output reads
  bool shared;     // whether neighbouring outputs share columns
  int64_t step;    // from the first column of an output to that of the next one
};

// The work of one strip: the rows of one pass and the columns of one panel.
struct ByteStrip {
  const uint8_t* const* rows;  // rows[tap * tap_stride + row] + offset points at `k` inputs
  size_t tap_stride;
  size_t row_count;
  size_t offset;
  size_t taps, k;
  const int8_t* panel;
  size_t width;             // packed columns
  size_t columns;           // columns of the output
  const int32_t* row_sums;  // of each row: the sum of its inputs minus their zero points; with weight_zeros
  int32_t input_zero;       // of inputs as the kernel sees them, unsigned or signed
  uint32_t flip;            // four bytes that flip the top bits of inputs of the other kind; else 0
  ByteEpilogue epilogue;    // pointers to the strip's first column
  void* out;                // first row and column of the strip
  size_t out_stride;        // elements from a row to the next
};

// The work on the channels of one panel of a depthwise convolution.
struct ChannelStrip {
  const ConvShape* shape;
  const uint8_t *input, *padding;  // the panel's first channel of the first pixel, and of a pixel of padding
  int64_t in_stride;               // bytes from a pixel to the next
  Range pixels;
  const int8_t* panel;
  size_t columns;      // channels
  int32_t input_zero;  // as for ByteStrip, and so are all below
  uint32_t flip;
  ByteEpilogue epilogue;
  void* out;  // of the first pixel and channel
  size_t out_stride;
  uint8_t* scratch;  // ChannelColumns::MostQuads() quads, aligned to a vector
};

}  // namespace mete
