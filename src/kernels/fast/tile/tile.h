// The terms of the register tile, which the matrix product and the convolutions share.
//
//   MR     rows (output pixels) of a tile
//   NR     columns (output channels) of a tile: 1 to 4 vectors
//   K      length of the sum of one output: taps x channels
//   panel  neighbouring columns of the weights, as many as the widest tile has, stored as
//          [tap][channel][width], with zeros beyond column N (panels.h). A tile of half the width covers a
//          panel in two strips, so that it reads the same packed weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

// The register tile that computes the panels. All tiles give the same bits.
struct Tile {
  int64_t rows = 0;  // largest number of rows; 0: as many as the registers allow
  // Whether the tile has half the width of a panel of four vectors, which leaves registers for more rows.
  // Narrower panels are not halved.
  bool half = false;

  bool operator==(const Tile&) const = default;
};

// Where a strip puts its sums of f32, and the epilogue.
struct TileOutput {
  float* out;  // [rows][columns], rows `out_stride` elements apart
  size_t out_stride;
  size_t columns;     // columns of the strip; the width of a whole panel is rounded up to whole vectors
  const float* bias;  // `columns` values, or null
  const float* residual;
  size_t residual_stride;
  const Epilogue* epilogue;

  // Points at row `row` and column `column` of whole tensors, whose strides and epilogue are set.
  void PointAt(float* output, int64_t row, int64_t column) {
    out = output + row * static_cast<int64_t>(out_stride) + column;
    bias = epilogue->bias ? epilogue->bias + column : nullptr;
    residual = epilogue->residual ? epilogue->residual + row * static_cast<int64_t>(residual_stride) + column
                                  : nullptr;
  }
};

// The work of one strip: the rows of one block, the columns of one panel or of half a panel, and one chunk of
// K. The first chunk adds the bias, and the last one uses the rest of the epilogue.
struct Strip : TileOutput {
  // rows[tap * tap_stride + row] + offset points at `k` contiguous inputs. A tile leaves out the taps of
  // which all its rows are `padding`, where that is not null: they add zeros, which change no bit of a sum,
  // except with an infinite weight and the sign of a sum that is zero.
  const float* const* rows;
  const float* padding;
  size_t tap_stride;
  size_t row_count;
  size_t offset;
  size_t taps, k;
  const float* panel;  // packed weights of this chunk of the panel
  size_t width;        // packed columns of the panel
  const float* next;   // prefetched: the weights that are read after this chunk, best of the same length
  Tile tile;
  bool first, last;  // whether this chunk starts the sum, and whether it ends it
};

// Divides [0, size) into the smallest number of pieces of at most `largest` elements; their sizes differ by
// at most one. Example: 17 rows with largest = 8 make tiles of 5, 6 and 6 rows instead of 8, 8 and 1. A tile
// of one row would leave the multiply-add units waiting for each other.
class EvenPieces {
 public:
  EvenPieces(int64_t size, int64_t largest)
      : count_(size > 0 ? (size + largest - 1) / largest : 0), size_(size) {}
  int64_t count() const { return count_; }
  Range operator[](int64_t i) const { return {size_ * i / count_, size_ * (i + 1) / count_}; }

 private:
  int64_t count_, size_;
};

// The rows that an instruction over blocks multiplies together (octets-inl.h).
inline constexpr int64_t kRowsOfBlock = 2;

// Divides the rows of a strip into tiles of at most `most` rows. Tiles have multiples of `together` rows, but
// the last one.
class PiecesOfRows {
 public:
  PiecesOfRows(size_t rows, int64_t most, int64_t together)
      : rows_(static_cast<int64_t>(rows)),
        together_(together),
        pieces_((rows_ + together - 1) / together, most / together) {}
  int64_t count() const { return pieces_.count(); }
  Range operator[](int64_t i) const {
    const Range piece = pieces_[i];
    const int64_t end = piece.end * together_;
    return {piece.begin * together_, end < rows_ ? end : rows_};
  }

 private:
  int64_t rows_, together_;
  EvenPieces pieces_;
};

// A block of rows runs fastest as dot products if it has a multiple of this number, of the rows of a tile of
// one column (dots-inl.h).
inline constexpr int64_t kRowsOfDots = 8;

// Returns the steps that the dot products of a row take whose lanes hold elements of K (dots-inl.h), for a
// sum over `taps` runs of `k` elements: a multiply-add for each column and vector, a load, and the sum of the
// lanes in some 8 instructions (log2 of the lanes shuffles and additions).
inline int64_t DotSteps(int64_t columns, int64_t taps, int64_t k, int64_t lanes) {
  return taps * ((k + lanes - 1) / lanes) * (columns + 1) + 8 * columns;
}

// Returns whether dot products are faster than a register tile, which takes a step for each element of K,
// whether its columns fill the vector or not. Columns that fill more than half of a vector win less than 2;
// that limit is a guess.
inline bool TakesDots(int64_t columns, int64_t taps, int64_t k, int64_t lanes) {
  return 2 * columns <= lanes && DotSteps(columns, taps, k, lanes) < taps * k;
}

// Returns the length of the longest chunk of K whose part of a panel stays in the second-level cache while
// the tiles of a block read it. With four vectors per row, the weights are read at a third of the rate of the
// multiply-adds, which a second-level cache sustains. Of chunks of 32, 64, 128 and 256 KiB, measured with
// AVX-512, the longer ones are up to 5 % faster, because short chunks store and load the sums more often.
inline int64_t ChunkLength(int64_t panel_width) {
  constexpr int64_t kPanelBytes = 128 << 10;
  const int64_t k = kPanelBytes / (panel_width * int64_t{sizeof(float)});
  return k < 64 ? 64 : k;
}

}  // namespace mete
