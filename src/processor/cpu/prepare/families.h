// The fast kernels' side of the CPU: each family says whether it can take a node, and prepares it.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "base/fused.h"
#include "kernels/fast/conv/conv.h"
#include "kernels/fast/conv/window.h"
#include "kernels/fast/epilogue.h"
#include "processor/cpu/prepare/kernels.h"

namespace mete {

// The first family that takes the node. Null where none does; `why` then says why those that know the
// operator declined.
std::unique_ptr<PreparedNode> PrepareFast(const Graph& graph, const Node& node, Packer& packer,
                                          const KernelOptions& options, std::string* why);

// A convolution that conv.cc has found to be one in pieces. conv_pieces.cc
std::unique_ptr<PreparedNode> PrepareConvPieces(const Graph&, const Node&, Packer&);

// The families, a file each. Null, with `why` filled where the operator is theirs but the case is not.
// conv.cc
std::unique_ptr<PreparedNode> PrepareConv(const Graph&, const Node&, Packer&, const KernelOptions&,
                                          std::string* why);
// matrix.cc
std::unique_ptr<PreparedNode> PrepareMatrix(const Graph&, const Node&, Packer&, const KernelOptions&,
                                            std::string* why);
// pooling.cc
std::unique_ptr<PreparedNode> PreparePool(const Graph&, const Node&, ThreadPool&, std::string* why);
// elementwise.cc
std::unique_ptr<PreparedNode> PrepareElementwise(const Graph&, const Node&, ThreadPool&, std::string* why);
// normalization.cc
std::unique_ptr<PreparedNode> PrepareNormalization(const Graph&, const Node&, ThreadPool&, std::string* why);
// movement.cc
std::unique_ptr<PreparedNode> PrepareMovement(const Graph&, const Node&, ThreadPool&, std::string* why);
// quantized.cc
std::unique_ptr<PreparedNode> PrepareQuantized(const Graph&, const Node&, Packer&, std::string* why);

// Shared by families.

// A grid of blocks over two dimensions of an output. The outer dimension is divided first: blocks that follow
// each other differ in the inner one, so that a run of blocks is at most three rectangles. Sizes differ by at
// most one step.
struct Grid {
  int64_t rows = 0, row_step = 1, columns = 0;  // what is divided; row blocks begin at multiples of row_step
  int64_t row_blocks = 1, column_blocks = 1;
  bool columns_outer = false;

  int64_t blocks() const { return row_blocks * column_blocks; }
  // blocks with the same part of the outer dimension
  int64_t run() const { return columns_outer ? row_blocks : column_blocks; }
  Range Rows(int64_t row_block) const;
  Range Columns(int64_t column_block) const;
  // fn(rows, columns) for rectangles that make up the blocks [begin, end), as few as there can be: fewer and
  // longer passes over the data cost less.
  template <class Fn>
  void ForPieces(int64_t begin, int64_t end, const Fn& fn) const {
    const int64_t inner = run();
    while (begin < end) {
      const int64_t outer = begin / inner, at = begin % inner;
      const int64_t whole = at == 0 ? (end - begin) / inner : 0;  // runs over all of the inner dimension
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

// What a grid divides: rows of activations, columns of weights; and what it reads and writes of each.
struct GridSides {
  int64_t rows = 0, row_step = 1, row_bytes = 0;
  int64_t columns = 0, column_bytes = 0;
};

// Enough blocks for every thread to get some, of which each may get its share by the `speeds`; one block for
// one thread. `other_side`: divide the side that would be left whole.
Grid MakeGrid(const GridSides& sides, std::span<const double> speeds, bool other_side = false);

// For kernels that only divide one dimension: how many pieces of at least `least` units.
int64_t BlocksOf(int64_t units, int64_t least, int threads);

inline bool HasResidual(const Node& node) { return node.attributes.Has("residual"); }

}  // namespace mete
