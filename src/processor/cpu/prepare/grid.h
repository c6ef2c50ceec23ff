// Grids: how the output of a kernel is cut into the blocks that the threads of a pool compute.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/fast/epilogue.h"
#include "processor/cpu/threads/thread_pool.h"

namespace mete {

// A grid of blocks over two dimensions of an output. The outer dimension is divided first: consecutive blocks
// differ in the inner dimension, so that a run of blocks consists of at most three rectangles. Sizes of
// blocks differ by at most one step.
struct Grid {
  // the sizes that are divided; row blocks begin at multiples of row_step
  int64_t rows = 0, row_step = 1, columns = 0;
  int64_t row_blocks = 1, column_blocks = 1;
  bool columns_outer = false;

  int64_t blocks() const { return row_blocks * column_blocks; }
  // the number of blocks with the same part of the outer dimension
  int64_t run() const { return columns_outer ? row_blocks : column_blocks; }
  Range Rows(int64_t row_block) const;
  Range Columns(int64_t column_block) const;
  // Calls fn(rows, columns) for the rectangles that make up the blocks [begin, end). There are as few
  // rectangles as possible: fewer and longer passes over the data cost less.
  template <class Fn>
  void ForPieces(int64_t begin, int64_t end, const Fn& fn) const {
    const int64_t inner = run();
    while (begin < end) {
      const int64_t outer = begin / inner, at = begin % inner;
      const int64_t whole = at == 0 ? (end - begin) / inner : 0;  // whole runs over the inner dimension
      const int64_t last = whole > 0 ? begin + whole * inner : std::min(end, (outer + 1) * inner);
      const Range outers{outer, whole > 0 ? outer + whole : outer + 1},
          inners{at, whole > 0 ? inner : at + last - begin};
      const Range &r = columns_outer ? inners : outers, &c = columns_outer ? outers : inners;
      fn(Range{Rows(r.begin).begin, Rows(r.end - 1).end},
         Range{Columns(c.begin).begin, Columns(c.end - 1).end});
      begin = last;
    }
  }
};

// The two sides that a grid divides, rows of activations and columns of weights, and the bytes read and
// written of each.
struct GridSides {
  int64_t rows = 0, row_step = 1, row_bytes = 0;
  int64_t columns = 0, column_bytes = 0;
};

// Makes a grid with enough blocks that every thread gets its share by `speeds`; one block for one thread.
// `other_side`: divide the side that would be left whole.
Grid MakeGrid(const GridSides& sides, std::span<const double> speeds, bool other_side = false);

// The least elements of a block. These values are guesses: it costs more to hand out a smaller piece of work
// than to compute it, where an element costs a few instructions, and where it costs an exponential or a
// comparison with others.
inline constexpr int64_t kLeastElements = 16 * 1024, kLeastCostly = 4 * 1024;

// The most pieces of few outputs with many terms. This value is a guess: enough for as many cores, while
// joining the pieces still costs nothing.
inline constexpr int64_t kMostPieces = 16;

// For kernels that divide only one dimension: returns the number of pieces, each of at least `least` units.
int64_t BlocksOf(int64_t units, int64_t least, int threads);

}  // namespace mete
