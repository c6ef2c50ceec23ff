// C[M,N] = activation(A[M,K] * B[K,N] + bias + residual) in f32, B packed beforehand.
//
// PlanGemm chooses the code; PackGemm lays B out once (or, if B is not constant, into the caller's scratch at
// each run, panels shared among threads); RunGemm computes any block: rows x panels. Blocks that do not
// overlap may run on any threads at once and give the same bits as one big block. No kernel here allocates,
// starts a thread or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/fast/epilogue.h"
#include "kernels/fast/tile/panels.h"
#include "kernels/fast/tile/tile.h"

namespace mete {

struct GemmCode;  // what one target provides

struct GemmPlan {
  int64_t n = 0, k = 0;  // columns of B and C; length of the sums
  Panels split;          // of the columns
  int64_t panels = 0;    // split.count()
  int64_t row_step = 0;  // rows of a register tile: blocks of a multiple of it run fastest
  Tile tile;             // may be changed at any time: what is packed serves all
  const GemmCode* code = nullptr;
};

// Needs n > 0, k >= 0 (k == 0 gives activation(bias + residual)). `most_vectors`: of a panel, and so of the
// register tile; 0: of the target's widest. A narrower one has more rows. The result has the same bits.
GemmPlan PlanGemm(int64_t n, int64_t k, int64_t most_vectors = 0);

// The widths to choose from: those that divide the columns differently, the target's widest first.
std::vector<int64_t> GemmTileWidths(int64_t n);

// The tiles to choose from over the panels of `plan`, for blocks of so many rows: Tile(), and what may suit
// another core better.
std::vector<Tile> GemmTiles(const GemmPlan& plan, int64_t rows);
// The size of a tile in the widest panel of `plan`.
struct TileSize {
  int64_t rows = 0, vectors = 0;
};
TileSize SizeOf(const GemmPlan& plan, const Tile& tile);

const char* TargetOf(const GemmPlan& plan);

size_t PackedGemmBytes(const GemmPlan& plan);

// B as [K,N] with rows `stride` elements apart, or, if `transposed`, as [N,K]. Writes the given panels only:
// each panel's place does not depend on the others. `packed`: PackedGemmBytes, best aligned to 64 bytes.
// `scale` multiplies every weight (Gemm's alpha).
void PackGemm(const GemmPlan& plan, const float* b, int64_t stride, bool transposed, float scale,
              Range panels, float* packed);

// `a`: row-major, rows `a_stride` elements apart, K contiguous values each. `c`: rows `c_stride` apart. Both
// point at row 0, column 0, whatever the block; so do the bias and the residual of the epilogue.
// 0 <= rows.begin <= rows.end, 0 <= panels.begin <= panels.end <= plan.panels.
// `after`: packed weights that the caller needs next, fetched ahead while the last panel is used; null: the
// first of `panels`.
void RunGemm(const GemmPlan& plan, const float* a, int64_t a_stride, const float* packed,
             const Epilogue& epilogue, Range rows, Range panels, float* c, int64_t c_stride,
             const float* after = nullptr);

}  // namespace mete
