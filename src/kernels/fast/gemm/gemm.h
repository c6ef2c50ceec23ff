// The matrix product C[M,N] = activation(A[M,K] * B[K,N] + bias + residual) in f32, with B packed beforehand.
//
// PlanGemm() chooses the code. PackGemm() packs B once; if B is not constant, the caller packs it at each run
// into its scratch memory, and threads may share the panels. RunGemm() computes any block of rows x panels.
// Blocks that do not overlap may run on any threads at once and give the same bits as one large block. No
// kernel here allocates, starts a thread or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/fast/epilogue.h"
#include "kernels/fast/tile/panels.h"
#include "kernels/fast/tile/tile.h"

namespace mete {

struct GemmCode;  // the code of one target

struct GemmPlan {
  int64_t n = 0, k = 0;  // columns of B and C; length of the sums
  Panels split;          // the panels of the columns
  int64_t panels = 0;    // split.count()
  int64_t row_step = 0;  // rows of a tile; blocks with a multiple of it run fastest
  bool dots = false;     // the lanes hold elements of K, because the columns would fill few of them (tile.h)
  int64_t steps = 0;     // of a row and a panel: k of a register tile, or DotSteps()
  Tile tile;             // may change at any time, because all tiles read the same packed weights
  const GemmCode* code = nullptr;

  int64_t packed_columns() const { return dots ? n : split.padded_columns(); }
};

// Which order the sums of a product have. kInOrder: each is rounded after each element of K, from the first
// one on.
enum class SumOrder { kAny, kInOrder };

// Plans a product. Requires n > 0 and k >= 0 (for k == 0 the output is activation(bias + residual)).
// `most_vectors` is the largest number of vectors in a panel, and so in the register tile; 0 means the
// target's widest tile. A narrower tile has more rows. The result has the same bits for every `most_vectors`.
GemmPlan PlanGemm(int64_t n, int64_t k, int64_t most_vectors = 0, SumOrder order = SumOrder::kAny);

// Returns the candidates for `most_vectors`: those that divide the columns differently, the target's widest
// first.
std::vector<int64_t> GemmTileWidths(int64_t n);

// Returns the candidate tiles for the panels of `plan` and blocks of `rows` rows, the fastest by estimate
// first: the default Tile(), and tiles that may be faster on other cores. `in_order`: the core issues
// instructions in the order of the program.
std::vector<Tile> GemmTiles(const GemmPlan& plan, int64_t rows, bool in_order = false);
// The size of a tile in the widest panel of a plan.
struct TileSize {
  int64_t rows = 0, vectors = 0;
};
TileSize SizeOf(const GemmPlan& plan, const Tile& tile);

const char* TargetOf(const GemmPlan& plan);

size_t PackedGemmBytes(const GemmPlan& plan);

struct GemmWeights {
  const float* b;           // from the column `first` on
  int64_t stride;           // elements between two rows
  bool transposed = false;  // B is [N,K] instead of [K,N]
  float scale = 1;          // multiplies every weight (Gemm's alpha)
  int64_t first = 0;
};

// Packs the given panels of B, each at a place that does not depend on the others. `packed` has
// PackedGemmBytes() bytes, best aligned to 64 bytes.
void PackGemm(const GemmPlan& plan, const GemmWeights& weights, Range panels, float* packed);

// Computes the block rows x panels of C. `a` has rows of K contiguous values, `a_stride` elements apart; the
// rows of `c` are `c_stride` elements apart. Both pointers, and those of the epilogue, point at row 0 and
// column 0 for every block. Requires 0 <= rows.begin <= rows.end and
// 0 <= panels.begin <= panels.end <= plan.panels. `after` points to the packed weights that the caller needs
// next, which are prefetched while the last panel is used, but not by dots; null means the first of `panels`.
void RunGemm(const GemmPlan& plan, const float* a, int64_t a_stride, const float* packed,
             const Epilogue& epilogue, Range rows, Range panels, float* c, int64_t c_stride,
             const float* after = nullptr);

}  // namespace mete
