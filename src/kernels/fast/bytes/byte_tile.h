// The terms of the register tile over bytes. Rows, panels and taps are those of kernels/fast/tile/tile.h;
// sums are of 32 bits and stay in registers from the first to the last product.
//
//   quad   four neighbouring bytes of a tap
//   cell   the bytes of a tap that instructions multiply together: a quad, or with Arm's i8mm an octet; the
//          last cell of a tap is filled up with weights of zero
//   panel  weights of neighbouring columns, stored as [tap][cell][width][bytes of a cell]
//
// Depthwise convolutions have quads of up to four taps of one channel instead (PlaceInQuads). A panel has the
// channels of a vector of bytes, and is stored as [quad][4][lanes][4] in the order in which the code
// interleaves the channels of four taps (by_channel-inl.h). A panel with channels for half a vector at most
// has them twice.
#pragma once

#include <cstddef>
#include <cstdint>

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

// The place of a tap in the quads of a depthwise convolution. Nine taps make three columns of three, as in a
// kernel of 3x3, so that the quads of a column serve neighbouring pixels; other taps follow each other.
inline constexpr size_t kNineTaps = 9;
struct PlaceInQuads {
  PlaceInQuads(size_t taps, size_t tap)
      : quad(taps == kNineTaps ? tap % 3 : tap / 4), byte(taps == kNineTaps ? tap / 3 : tap % 4) {}
  size_t quad, byte;
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

}  // namespace mete
