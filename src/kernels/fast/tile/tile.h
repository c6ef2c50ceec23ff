// The vocabulary of the register tile that the matrix product and the convolutions share.
//
//   MR  rows (output pixels) of a tile         NR  columns (output channels) of a tile: 1 to 4 vectors
//   K   length of the sum behind one output: taps x channels
//   panel: neighbouring columns of the weights, as many as the widest tile has, stored [tap][channel][width],
//   zero where N ends early
//          (panels.h). A tile of half the width goes over it in two strips, so that it computes from the same
//          packed weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

// Which register tile goes over the panels. Any gives the same bits.
struct Tile {
  int64_t rows = 0;  // at most; 0: as many as registers are there for
  // as wide as half a panel of four vectors, which leaves registers for more rows; narrower panels stay whole
  bool half = false;

  bool operator==(const Tile&) const = default;
};

// Work for one strip: rows of one block, columns of one panel or of half of it, one chunk of K.
struct Strip {
  // rows[tap * tap_stride + row] + offset points at `k` contiguous inputs.
  const float* const* rows;
  size_t tap_stride;
  size_t row_count;
  size_t offset;
  size_t taps, k;
  const float* panel;  // at this chunk
  size_t width;        // of the panel as packed, in elements
  const float* next;   // what will be read after this chunk of the panel, best as long; fetched ahead
  float* out;          // [row_count][columns], rows `out_stride` elements apart
  size_t out_stride;
  size_t columns;  // of the strip; a whole panel is as wide as the vectors that they need
  Tile tile;
  const float* bias;  // `columns` values, added by the first chunk; or null
  // Used by the last chunk only.
  const float* residual;
  size_t residual_stride;
  const Epilogue* epilogue;
  bool first, last;  // whether this chunk starts the sum, and whether it ends it
};

// Runs over [0, size) in `pieces` pieces whose sizes differ by at most one: tiles of 7 and 8 rows instead of
// many of 8 and a last one of 1, which would leave the multiply-add units waiting on each other.
class EvenPieces {
 public:
  EvenPieces(int64_t size, int64_t largest)
      : count_(size > 0 ? (size + largest - 1) / largest : 0), size_(size) {}
  int64_t count() const { return count_; }
  Range operator[](int64_t i) const { return {size_ * i / count_, size_ * (i + 1) / count_}; }

 private:
  int64_t count_, size_;
};

// Longest piece of K whose part of a panel stays close while the rows of a block pass by. With four vectors a
// row the weights are read at a third of the rate of the multiply-adds, which a second-level cache sustains
// (measured with AVX-512: pieces of 32, 64, 128 and 256 KiB: the longer ones up to 5 % faster); short pieces
// store and load the sums more often.
inline int64_t ChunkLength(int64_t panel_width) {
  constexpr int64_t kPanelBytes = 128 << 10;
  const int64_t k = kPanelBytes / (panel_width * int64_t{sizeof(float)});
  return k < 64 ? 64 : k;
}

}  // namespace mete
